import { useSignal } from '@preact/signals'
import type { Erasure } from '../../../modules/people/schema.ts'
import { defaultZone, momentHere } from '../analytics/zone.ts'
import { act } from '../api/request.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Part } from '../parts/part.tsx'
import { TextField } from '../parts/text-field.tsx'
import { peopleWords as words } from '../words/people.ts'
import { formatCount } from '../words/time.ts'
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
      title={words.eraseTitle(person.id)}
      verb={words.erase}
      isDanger
      isReady={isRight}
      act={async () => onErased(await act<Erasure>(personPath(person), { method: 'DELETE' }))}
      onClose={onClose}
    >
      <ul class="what-happens stack gap-2">
        {words.eraseWhat.map(sentence => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <TextField
        label={words.eraseType(person.id)}
        problem={
          typed.value !== '' && !person.id.startsWith(typed.value) ? words.eraseWrong : undefined
        }
        value={typed.value}
        onChange={text => (typed.value = text)}
        autocomplete="off"
      />
    </Confirm>
  )
}

/** The receipt of an erasure: what became of it. */
export function Receipt({ of }: { of: Erasure }) {
  const { receiptFields: fields } = words
  const erased = Object.entries(of.erased).filter(([, count]) => count > 0)
  const rows: [string, string][] = [
    [fields.id, of.id],
    [fields.asked, momentHere(of.askedAt)],
    [fields.finished, of.finishedAt === null ? fields.notFinished : momentHere(of.finishedAt)],
    [
      fields.erased,
      erased.map(([kind, count]) => `${formatCount(count)} ${kind}`).join(', ') || fields.nothing,
    ],
    ...(of.unfinished
      ? [[fields.unfinished, words.unfinished[of.unfinished]] as [string, string]]
      : []),
    ...(of.copies.length > 0 ? [[fields.copies, of.copies.join(', ')] as [string, string]] : []),
  ]
  return (
    <Part
      title={words.receipt}
      beside={
        <span class="hint">
          {words.receiptWhy} {defaultZone()}
        </span>
      }
    >
      <dl class="receipt">
        {rows.map(([name, value]) => (
          <>
            <dt key={name}>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
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
      title={words.allowTitle(person.id)}
      verb={words.allow}
      act={async () => {
        await act('/manage/people/allow', { body: namedIn(person) })
        onAllowed()
      }}
      showsItself={({ told }) => told.code === 'person_not_found'}
      onRefused={({ told }) => (notErased.value = told.code === 'person_not_found')}
      onClose={onClose}
    >
      <p>{words.allowWhat}</p>
      {notErased.value && (
        <p class="problem" role="alert">
          {words.notErased(person.id)}
        </p>
      )}
    </Confirm>
  )
}
