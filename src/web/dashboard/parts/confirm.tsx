import type { ComponentChildren } from 'preact'
import { useAction } from '../api/action.ts'
import type { Failure } from '../api/failure.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Rejection } from './rejection.tsx'

export interface ConfirmProps {
  title: string
  verb: string
  isDanger?: boolean
  /** Whether everything to review first has come. */
  isReady?: boolean
  isWide?: boolean
  /** Whether the caller shows this rejection, such as at a field. */
  showsItself?: (failure: Failure) => boolean
  /** Whether the caller goes on after it, with what was created. */
  isOpenAfter?: boolean
  /** Throws if it was refused. */
  act: () => Promise<void>
  onRefused?: (failure: Failure) => void
  onClose: () => void
  children: ComponentChildren
}

/**
 * Asks before something is changed: says what that means for visitors, and has a button named after
 * what it does. It closes once that is done. A refusal is shown in it, and it stays open.
 */
export function Confirm({
  title,
  verb,
  isDanger = false,
  isReady = true,
  isWide = false,
  showsItself = () => false,
  isOpenAfter = false,
  act,
  onRefused,
  onClose,
  children,
}: ConfirmProps) {
  const { isBusy, refused, run } = useAction(onRefused)

  const go = () =>
    run(async () => {
      await act()
      if (!isOpenAfter) onClose()
    })
  return (
    <Dialog title={title} onClose={onClose} class={isWide ? 'wide' : ''}>
      {children}
      {refused.value && !showsItself(refused.value) && <Rejection failure={refused.value} />}
      <div class="dialog-end row end">
        <Button onClick={onClose}>Cancel</Button>
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
