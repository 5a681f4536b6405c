import type { Config } from '../config/settings.ts'
import type { SharedMemory } from '../storage/shared/boards.ts'
import type { CountedRoute } from './counters.ts'
import type { KnownKeys } from './issuer-keys.ts'

/** What the threads of a server say to each other. */

/** All that a thread needs to begin. */
export interface ThreadStart {
  type: 'start'
  name: string
  config: Config
  shared: SharedMemory
  /** Its own counters, and where it shows that it turns. */
  counters: SharedArrayBuffer
  pulse: SharedArrayBuffer
  /** Which thread may write to the log. */
  logMutex: SharedArrayBuffer
  /** When it was made, by the main thread's monotonic clock. */
  madeAt: number
  /** As the environment says. */
  failpoints: string | undefined
}

/** To an HTTP thread, besides its start: the way to storage, and what is known of the issuer. */
export interface HttpThreadStart extends ThreadStart {
  storage: MessagePort
  /** Where requests are counted. */
  windows: SharedArrayBuffer
  /** Where it tells how a limiter on another machine does. */
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

/** To any thread: the settings, and what is known of the identity provider's keys, as they are now. */
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

/** To any thread: say what was counted by organisation, and go on to count. */
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
  /** Somebody wants to know how the server does; its figures come by the port. */
  | { type: 'figures_wanted'; answer: MessagePort }
  /** Something is to be watched, or sent, that was not before. */
  | { type: 'alerts_wanted' }
  | { type: 'stopped' }
  | { type: 'failed'; message: string }
