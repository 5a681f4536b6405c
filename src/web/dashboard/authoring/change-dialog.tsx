import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { readAgain } from '../api/read.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Facts } from '../parts/facts.tsx'
import { TextField } from '../parts/text-field.tsx'
import { FailureNotice, Skeleton } from '../shell/states.tsx'
import { formatAge } from '../words/time.ts'
import { versionWords as words } from '../words/versions.ts'
import { Difference } from './difference.tsx'
import { meantFor } from './meant-for.ts'
import { type Reviewed, useReviewed } from './reviewed.ts'

const maxNote = 1_000

/**
 * Asks before anything changes what visitors see: shows what would change, and sends exactly what was
 * reviewed. If somebody else was quicker, it says who, and shows what would change now.
 */
export function ChangeDialog({
  flowKey,
  title,
  why,
  verb,
  compare,
  names,
  isDanger,
  hasNote = true,
  extra,
  isForVisitors = false,
  act,
  onClose,
}: {
  flowKey: string
  title: string
  why: ComponentChildren
  verb: string
  /** The query of the difference; null if there is none. */
  compare: Record<string, string> | null
  /** The names of the two sides of the difference. */
  names: readonly [from: string, to: string]
  isDanger?: boolean
  hasNote?: boolean
  extra?: ComponentChildren
  /** Whether to tell where, to whom and when the draft would be shown. */
  isForVisitors?: boolean
  act: (reviewed: Reviewed, note: { note?: string }) => Promise<void>
  onClose: () => void
}) {
  const { value, failure, again } = useReviewed(flowKey, compare)
  const note = useSignal('')
  const quicker = useSignal<string | null>(null)
  return (
    <Confirm
      title={title}
      verb={verb}
      isWide={compare !== null}
      isDanger={isDanger ?? false}
      isReady={value !== null}
      act={async () => {
        await act(value!, note.value.trim() === '' ? {} : { note: note.value.trim() })
        readAgain()
      }}
      onRefused={({ status, told }) => {
        if (status !== 412) return
        const { changedBy, changedAt } = (told.body ?? {}) as Record<string, string | null>
        quicker.value = words.quicker(
          changedBy ?? words.somebody,
          changedAt ? formatAge(changedAt) : words.meanwhile,
        )
        void again()
        readAgain()
      }}
      showsItself={({ status }) => status === 412}
      onClose={onClose}
    >
      <p>{why}</p>
      {isForVisitors && value && <Facts of={meantFor(value.draft.definition as never)} />}
      {quicker.value && (
        <p class="problem" role="alert">
          {quicker.value}
        </p>
      )}
      {failure ? (
        <FailureNotice failure={failure} again={again} />
      ) : value === null ? (
        <Skeleton lines={3} />
      ) : (
        value.difference && <Difference of={value.difference} from={names[0]} to={names[1]} />
      )}
      {extra}
      {hasNote && (
        <TextField
          label={words.noteLabel}
          hint={words.noteHint}
          value={note.value}
          onChange={text => (note.value = text)}
          maxLength={maxNote}
        />
      )}
    </Confirm>
  )
}
