import { useSignal } from '@preact/signals'
import type { Erasure } from '../../../modules/people/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { act } from '../api/request.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Facts } from '../parts/facts.tsx'
import { formatCount } from '../parts/format.ts'
import { Part } from '../parts/part.tsx'
import { TextField } from '../parts/text-field.tsx'
import { namedIn, type Person, personPath } from './person.ts'

/** Erases a person, once their id has been typed again. */
export function ErasePerson({
  person,
  onErased,
  onClose,
}: {
  person: Person
  onErased: (receipt: Erasure) => void
  onClose: () => void
}) {
  const typed = useSignal('')
  const isRight = typed.value === person.id
  return (
    <Confirm
      title={`Erase ${person.id}`}
      verb="Erase"
      isDanger
      isReady={isRight}
      act={async () => onErased(await act<Erasure>(personPath(person), { method: 'DELETE' }))}
      onClose={onClose}
    >
      <ul class="what-happens stack gap-2">
        <li>All their data is deleted, in this server’s files too. This cannot be undone.</li>
        <li>Totals in results stay as they are, without their name.</li>
        <li>
          New data from this ID is discarded until you lift the erasure. They still see flows.
        </li>
        <li>This can take minutes, and continues if you leave the page.</li>
      </ul>
      <TextField
        label={`Type ${person.id} to confirm`}
        problem={
          typed.value !== '' && !person.id.startsWith(typed.value)
            ? 'This is a different ID.'
            : undefined
        }
        value={typed.value}
        onChange={text => (typed.value = text)}
        autocomplete="off"
      />
    </Confirm>
  )
}

const unfinished = {
  unused_parts: 'Unused parts of the database may hold bytes of theirs until it is compacted.',
  log: 'The database’s log may hold bytes of theirs until a long download has ended. Erase again later.',
}

/** What the receipt counts: 1 run, 2 dead letters. Each kind is a plural. */
function erasedText(kind: string, count: number): string {
  const plural = kind.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`).replaceAll('_', ' ')
  return `${formatCount(count)} ${count === 1 ? plural.replace(/s$/, '') : plural}`
}

/** The receipt of an erasure. */
export function Receipt({ of }: { of: Erasure }) {
  const erased = Object.entries(of.erased).filter(([, count]) => count > 0)
  const rows: [string, string][] = [
    ['ID', of.id],
    ['Requested', momentHere(of.askedAt)],
    ['Finished', of.finishedAt === null ? 'not yet' : momentHere(of.finishedAt)],
    [
      'Erased',
      erased.map(([kind, count]) => erasedText(kind, count)).join(', ') || 'nothing was stored',
    ],
    ...(of.unfinished ? [['Left', unfinished[of.unfinished]] as [string, string]] : []),
    ...(of.copies.length > 0
      ? [['Copies to delete', of.copies.join(', ')] as [string, string]]
      : []),
  ]
  return (
    <Part
      title="Receipt"
      beside={
        <span class="hint">It contains no personal data. The audit log has it under its ID.</span>
      }
    >
      <Facts of={rows} />
    </Part>
  )
}

/** Lets events of an erased person be accepted again. */
export const AllowPerson = ({
  person,
  onAllowed,
  onClose,
}: {
  person: Person
  onAllowed: () => void
  onClose: () => void
}) => {
  const notErased = useSignal(false)
  return (
    <Confirm
      title={`Lift the erasure of ${person.id}`}
      verb="Lift erasure"
      act={async () => {
        await act('/manage/people/allow', { body: namedIn(person) })
        onAllowed()
      }}
      showsItself={({ response }) => response.code === 'person_not_found'}
      onRefused={({ response }) => (notErased.value = response.code === 'person_not_found')}
      onClose={onClose}
    >
      <p>
        For a person who was erased and has come back. New data is stored again. Erased data does
        not come back.
      </p>
      {notErased.value && (
        <p class="problem" role="alert">
          {person.id} was not erased. New data is stored.
        </p>
      )}
    </Confirm>
  )
}
