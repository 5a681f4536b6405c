import { signal } from '@preact/signals'
import type { Failure } from './failure.ts'

/** Why the server does not answer as it should just now; null where it does. */
export const trouble = signal<'away' | 'busy' | null>(null)

/** Notes what a failure says of the server as a whole; most say nothing of it. */
export function noteTrouble(failure: Failure): void {
  if (failure.isPassing) trouble.value = failure.status === 0 ? 'away' : 'busy'
  else if (failure.status !== 0) trouble.value = null
}

/** How long a node may answer by what was before, milliseconds. */
const behindMs = 45_000

/** Nodes that may not know of what was changed here last; empty where all do. */
export const nodesBehind = signal('')
let forgetting: ReturnType<typeof setTimeout> | undefined

/** Notes which nodes an answer says to be behind. */
export function noteNodesBehind(names: string): void {
  clearTimeout(forgetting)
  nodesBehind.value = names
  if (names) forgetting = setTimeout(() => (nodesBehind.value = ''), behindMs)
}

export function noteReached(): void {
  trouble.value = null
}
