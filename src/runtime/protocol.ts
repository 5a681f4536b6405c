import type { Config } from '../config/settings.ts'
import type { SharedMemory } from '../storage/shared/boards.ts'

/** The messages that the threads of a server send each other. */

/** Everything that a thread needs to start. */
export interface ThreadStart {
  type: 'start'
  name: string
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

/** To any thread: the current settings. */
export interface Reloaded {
  type: 'reloaded'
  config: Config
}

/** To the storage thread: another thread that will send commands. */
export interface Join {
  type: 'join'
  port: MessagePort
}

/** To the storage thread: report the counts by organisation, and go on counting. */
export interface TallyWanted {
  type: 'tally'
  answer: MessagePort
}

/** To any thread: finish what is in flight, then say `stopped`. */
export interface Stop {
  type: 'stop'
}

/** From a thread. */
export type ThreadReport =
  | { type: 'ready' }
  | { type: 'stopped' }
  | { type: 'failed'; message: string }
