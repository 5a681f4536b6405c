import { useSignal } from '@preact/signals'
import { Failure } from './failure.ts'

/** Runs an action, and holds whether it is under way and why it was refused. */
export function useAction(onRefused?: (failure: Failure) => void) {
  const isBusy = useSignal(false)
  const refused = useSignal<Failure | null>(null)
  const run = async (action: () => Promise<void> | void) => {
    isBusy.value = true
    refused.value = null
    try {
      await action()
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      refused.value = error
      onRefused?.(error)
    } finally {
      isBusy.value = false
    }
  }
  return { isBusy, refused, run }
}
