import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Failure } from '../api/failure.ts'
import { shellWords } from '../words/shell.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

const { states } = shellWords

/** Why it was refused, in a sentence. */
function whyOf({ status, message, told, isPassing }: Failure): string {
  if (status === 0) return states.away
  if (status === 401) return shellWords.signIn.ended
  if (status === 412) return states.changedWhy(String(told.body?.changedBy ?? states.changedBy))
  return isPassing ? states.busy : message || states.failedWhy
}

/** What a refusal says to the person who wanted to change something. */
function Refusal({ failure }: { failure: Failure }) {
  const { told } = failure
  const why = whyOf(failure)
  return (
    <div class="problem" role="alert">
      <p>{why}</p>
      {told.details && (
        <ul class="problems">
          {told.details.map(({ path, message }) => (
            <li key={path}>
              <code>{path.slice(1)}</code> {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/**
 * Asks before something is changed: says what that means for visitors, and has a button named after
 * what it does. A refusal is shown in the dialog, which stays open.
 */
export function Confirm({
  title,
  verb,
  isDanger = false,
  isReady = true,
  isWide = false,
  isSaidElsewhere = false,
  act,
  onRefused,
  onDone,
  onClose,
  children,
}: {
  title: string
  verb: string
  isDanger?: boolean
  /** Whether everything to review first has come. */
  isReady?: boolean
  isWide?: boolean
  /** Whether the caller itself says that somebody else was quicker. */
  isSaidElsewhere?: boolean
  /** Throws if it was refused. */
  act: () => Promise<void>
  onRefused?: (failure: Failure) => void
  onDone: () => void
  onClose: () => void
  children: ComponentChildren
}) {
  const isBusy = useSignal(false)
  const refused = useSignal<Failure | null>(null)
  const go = async () => {
    isBusy.value = true
    refused.value = null
    try {
      await act()
      onDone()
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      refused.value = error
      onRefused?.(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <Dialog title={title} onClose={onClose} class={isWide ? 'wide' : ''}>
      {children}
      {refused.value && !(isSaidElsewhere && refused.value.status === 412) && (
        <Refusal failure={refused.value} />
      )}
      <div class="dialog-end">
        <Button onClick={onClose}>{shellWords.cancel}</Button>
        <Button
          look={isDanger ? 'danger' : 'primary'}
          isBusy={isBusy.value}
          disabled={!isReady}
          onClick={go}
        >
          {verb}
        </Button>
      </div>
    </Dialog>
  )
}
