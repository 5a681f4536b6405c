import type { Config } from '../config/settings.ts'
import type { SharedMemory } from '../storage/shared/boards.ts'

/** The messages between the main thread and the storage thread. */

/** Everything that the storage thread needs to start. */
export interface ThreadStart {
  type: 'start'
  config: Config
  shared: SharedMemory
  /** Its own counters, and the memory in which it shows that its event loop turns. */
  counters: SharedArrayBuffer
  pulse: SharedArrayBuffer
  /** Which thread may write to the log. */
  logMutex: SharedArrayBuffer
  /** When it was made, by the main thread's monotonic clock. */
  madeAt: number
  /** From the environment. */
  failpoints: string | undefined
}

/** To the storage thread: the current settings. */
export interface Reloaded {
  type: 'reloaded'
  config: Config
}

/** To the storage thread: where commands come from. */
export interface Join {
  type: 'join'
  port: MessagePort
}

/** To the storage thread: report the counts by organisation, and go on counting. */
export interface TallyWanted {
  type: 'tally'
  answer: MessagePort
}

/** To the storage thread: finish what is in flight, then report `stopped`. */
export interface Stop {
  type: 'stop'
}

/** From the storage thread. */
export type ThreadReport =
  | { type: 'ready' }
  | { type: 'stopped' }
  | { type: 'failed'; message: string }
