import { signal } from '@preact/signals'
import type { Failure } from './failure.ts'

/** Why the server does not answer as it should at the moment; null if it does. */
export const trouble = signal<'away' | 'busy' | null>(null)

/** Notes what a failure says about the server as a whole; most failures say nothing about it. */
export function noteTrouble(failure: Failure): void {
  if (failure.isPassing) trouble.value = failure.status === 0 ? 'away' : 'busy'
  else if (failure.status !== 0) trouble.value = null
}

/** How long a node may go on answering with the state before a change, milliseconds. */
const behindMs = 45_000

/** Nodes that may not know the last change made here yet; empty if all do. */
export const nodesBehind = signal('')
let forgetting: ReturnType<typeof setTimeout> | undefined

/** Notes which nodes have fallen behind, as an answer says. */
export function noteNodesBehind(names: string): void {
  clearTimeout(forgetting)
  nodesBehind.value = names
  if (names) forgetting = setTimeout(() => (nodesBehind.value = ''), behindMs)
}

export function noteReached(): void {
  trouble.value = null
}
