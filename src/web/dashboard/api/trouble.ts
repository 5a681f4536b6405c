import { signal } from '@preact/signals'
import type { Failure } from './failure.ts'

/** Why the server does not answer as it should just now; null where it does. */
export const trouble = signal<'away' | 'busy' | null>(null)

/** Notes what a failure says of the server as a whole; most say nothing of it. */
export function noteTrouble(failure: Failure): void {
  if (failure.isPassing) trouble.value = failure.status === 0 ? 'away' : 'busy'
  else if (failure.status !== 0) trouble.value = null
}

export function noteReached(): void {
  trouble.value = null
}
