import type { Config } from '../config/settings.ts'
import type { SharedMemory } from '../storage/shared/boards.ts'
import type { CountedRoute } from './counters.ts'
import type { KnownKeys } from './issuer-keys.ts'

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

/** To an HTTP thread, besides its start: the way to storage, and what is known about the issuer. */
export interface HttpThreadStart extends ThreadStart {
  storage: MessagePort
  /** Where requests are counted. */
  windows: SharedArrayBuffer
  /** Where it reports the state of a limiter on another machine. */
  limits: SharedArrayBuffer
  issuerKeys: KnownKeys
  /** Where it lets the operator in; null for threads that do not. */
  socket: string | null
}

/** To the thread of alerts, besides its start: the way to storage. */
export interface AlertThreadStart extends ThreadStart {
  storage: MessagePort
}

/** To the thread of alerts: somebody waits to see what has changed. */
export interface LookForAlerts {
  type: 'look'
}

/** To any thread: the current settings, and what is known about the identity provider's keys. */
export interface Reloaded {
  type: 'reloaded'
  config: Config
  issuerKeys: KnownKeys
}

/** To the storage thread: another HTTP thread that will send commands. */
export interface Join {
  type: 'join'
  port: MessagePort
}

/** To any thread: report the counts by organisation, and go on counting. */
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
  /** An HTTP thread says which routes it counts, for the metrics. */
  | { type: 'ready'; routes?: CountedRoute[] }
  /** A request named a key of the identity provider that the HTTP thread does not know. */
  | { type: 'issuer_keys_wanted' }
  /** Somebody wants to know the server's figures, which are sent through the port. */
  | { type: 'figures_wanted'; answer: MessagePort }
  /** There is something new to watch or to send. */
  | { type: 'alerts_wanted' }
  | { type: 'stopped' }
  | { type: 'failed'; message: string }
