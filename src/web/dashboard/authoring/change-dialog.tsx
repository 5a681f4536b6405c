import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { readAgain } from '../api/read.ts'
import { Confirm } from '../parts/confirm.tsx'
import { formatAge } from '../parts/format.ts'
import { TextField } from '../parts/text-field.tsx'
import { FailureNotice, Skeleton } from '../shell/states.tsx'
import { Difference } from './difference.tsx'
import { type Reviewed, useReviewed } from './reviewed.ts'

const maxNote = 1_000

/**
 * Asks before anything changes what visitors see: shows what would change, and sends exactly what was
 * reviewed. If someone else saved first, it says who, and shows what would change now.
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
  review,
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
  /** What else there is to know about the draft. */
  review?: (reviewed: Reviewed) => ComponentChildren
  act: (reviewed: Reviewed, note: { note?: string }) => Promise<void>
  onClose: () => void
}) {
  const { value, failure, again } = useReviewed(flowKey, compare)
  const note = useSignal('')
  const overtaken = useSignal<string | null>(null)
  return (
    <Confirm
      title={title}
      verb={verb}
      isWide={compare !== null || review !== undefined}
      isDanger={isDanger ?? false}
      isReady={value !== null}
      act={async () => {
        await act(value!, note.value.trim() === '' ? {} : { note: note.value.trim() })
        readAgain()
      }}
      onRefused={({ status, response }) => {
        if (status !== 412) return
        const { changedBy, changedAt } = (response.body ?? {}) as Record<string, string | null>
        const when = changedAt ? formatAge(changedAt) : 'just now'
        overtaken.value = `Someone else saved first: ${changedBy ?? 'somebody'} changed the draft ${when}. Review it below, then try again.`
        void again()
        readAgain()
      }}
      showsItself={() => overtaken.value !== null}
      onClose={onClose}
    >
      <p>{why}</p>
      {overtaken.value && (
        <p class="problem" role="alert">
          {overtaken.value}
        </p>
      )}
      {failure ? (
        <FailureNotice failure={failure} again={again} />
      ) : value === null ? (
        <Skeleton lines={3} />
      ) : (
        <>
          {review?.(value)}
          {value.difference && <Difference of={value.difference} from={names[0]} to={names[1]} />}
        </>
      )}
      {extra}
      {hasNote && (
        <TextField
          label="Note"
          isOptional
          hint="Shown with the version and in the audit log."
          value={note.value}
          onChange={text => (note.value = text)}
          maxLength={maxNote}
        />
      )}
    </Confirm>
  )
}
