import type { EventKind, EventSource, RejectionCode } from './event/event.ts'
import type { FlowHistory } from './flow/decision.ts'
import type { StepHistory } from './flow/positions.ts'
import type { Bucket } from './organisation/buckets.ts'
import type { Catalogue } from './organisation/catalogue.ts'
import type { UserHashCounts } from './organisation/verified-identity.ts'
import type { FlowRef, ItemRef, OrganisationRef, StepRef } from './reference.ts'
import type { RunStep } from './run/run.ts'
import type { RunColumns } from './run/run-columns.ts'
import type { Fingerprint } from './step/fingerprint.ts'
import type { HealthCounts, Outcome } from './step/health.ts'
import type { TimeRange } from './time/time-range.ts'

/**
 * What the modules ask of storage. Whatever may have to wait returns a promise, so that a store on
 * another machine can take SQLite's place. Every call names its organisation.
 * A store that cannot take more, or cannot write, throws `AppError('overloaded')`.
 */

/** An event that was found valid, as it will be stored. Times are epoch milliseconds. */
export interface NewEvent {
  id: string
  kind: EventKind
  userId: string | null
  anonymousId: string | null
  flowRef: FlowRef | null
  flowVersion: number | null
  stepRef: StepRef | null
  itemRef: ItemRef | null
  runId: string | null
  sessionId: string | null
  occurredAt: number
  reportedAt: number | null
  url: string | null
  name: string | null
  reason: string | null
  /** JSON. */
  properties: string | null
}

export interface EventBatch {
  orgRef: OrganisationRef
  receivedAt: number
  events: readonly NewEvent[]
  /** What was refused before storage, for the install findings. */
  refusals: Partial<Record<RejectionCode, number>>
  /** Receipt minus `sentAt`, where the sender gave one. */
  skewMs: number | null
}

/** What became of a batch, by position in `events`; all others were stored. */
export interface AppendOutcome {
  duplicates: readonly number[]
  /** Refused by the database itself; kept as dead letters. */
  deadLetters: readonly number[]
  /** Of people whose data was erased: not kept, and nobody but the operator is told. */
  erased: readonly number[]
}

/** One person: at least one of the two is not null. */
export interface PersonIds {
  userId: string | null
  anonymousId: string | null
}

/** A report of a person whose data was erased is answered like any other, and not kept. */
export interface Ledger {
  /** Throws `overloaded` where there is no room for a write, however small. */
  requireRoom(): void
  /** Resolves once the batch is committed and synced, or at once with `ack=buffer`. */
  append(batch: EventBatch): Promise<AppendOutcome>
  /** Records a completion of a flow. */
  complete(
    report: PersonIds & {
      orgRef: OrganisationRef
      flowRef: FlowRef
      runId: string | null
      completedAt: number
      receivedAt: number
    },
  ): Promise<{ completedAt: number; alreadyCompleted: boolean }>
  /** Ticks items, or takes ticks back; items that are not named are not touched. */
  tick(
    report: PersonIds & {
      orgRef: OrganisationRef
      flowRef: FlowRef
      /** The run that ticks belong to, by its id or by the session; neither where none is named. */
      runId?: string | null
      sessionId?: string | null
      items: readonly { itemRef: ItemRef; completed: boolean }[]
      receivedAt: number
    },
  ): Promise<void>
}

export interface ChecklistReader {
  /** Since when each item stands ticked, and when the person first completed the flow. */
  progress(
    orgRef: OrganisationRef,
    flowRef: FlowRef,
    person: PersonIds,
  ): Promise<{ ticked: ReadonlyMap<ItemRef, number>; completedAt: number | null }>
  /**
   * Another text after each change of what `progress` tells of a person, in whatever flow. Costs no
   * statement.
   */
  version(orgRef: OrganisationRef, person: PersonIds): string
}

export interface HistoryReader {
  /**
   * What a person has done with flows; flows of which they have no run are left out. Of one
   * with very many runs the latest count.
   */
  histories(
    orgRef: OrganisationRef,
    flowRefs: readonly FlowRef[],
    person: PersonIds,
  ): Promise<ReadonlyMap<FlowRef, FlowHistory>>
}

export interface HealthReport {
  orgRef: OrganisationRef
  stepRef: StepRef
  version: number
  person: string | null
  outcome: Outcome
  at: number
  url: string | null
  selector: string | null
  matchCount: number | null
  waitMs: number | null
  snippetVersion: string | null
  message: string | null
}

export interface FingerprintReport {
  orgRef: OrganisationRef
  stepRef: StepRef
  version: number
  /** Whether this version is the published one, so that a first fingerprint becomes the baseline. */
  isCurrent: boolean
  /**
   * JSON of the step's target: a baseline belongs to one target. Null where the newest version has
   * no such step: then a baseline is compared with, and never taken.
   */
  target: string | null
  fingerprint: Fingerprint | null
  candidates: readonly Fingerprint[]
  at: number
  url: string | null
  locale: string | null
  snippetVersion: string | null
}

export interface FingerprintVerdict {
  status: 'baseline' | 'match' | 'drift' | 'gone'
  score: number
  signals: Record<string, number>
  baselineAt: number | null
  suggestedSelector: string | null
}

export interface StepBook {
  recordHealth(report: HealthReport): Promise<void>
  recordFingerprint(report: FingerprintReport): Promise<FingerprintVerdict>
  /** How many people's latest report since a moment was which outcome. */
  healthCounts(
    orgRef: OrganisationRef,
    stepRef: StepRef,
    version: number,
    sinceMs: number,
  ): Promise<HealthCounts>
}

export const presenceStages = ['key_used', 'flows_fetched', 'heartbeat', 'events_flowing'] as const

export type PresenceStage = (typeof presenceStages)[number]

/** What is noted of an organisation by its first and last time: the stages, and what hints at a fault. */
export const presenceMarks = [...presenceStages, 'old_key_used'] as const

export type PresenceMark = (typeof presenceMarks)[number]

export interface Presence {
  seen: Readonly<Record<PresenceMark, { firstAt: number; lastAt: number } | null>>
  snippetVersion: string | null
  /** The latest clock skews in milliseconds, at most 101. */
  skews: readonly number[]
  /** Events refused over the last 24 hours, by code. */
  rejections: Readonly<Partial<Record<RejectionCode, number>>>
  /** Reports of people who were erased over the last 24 hours: for the operator alone. */
  erased: number
  /** Requests refused over the last 24 hours for their origin. */
  refusedOrigins: number
  /** Minutes of the last 24 hours in which requests were refused for their number. */
  limitedMinutes: Readonly<Partial<Record<Bucket, number>>>
  /** Calls and events of the last 24 hours that named a user, by what became of the hash. */
  userHashes: Readonly<UserHashCounts>
}

/** Where the heartbeats of an organisation may lie, and what its window has left. Milliseconds. */
export interface BeatBounds {
  /** How many are kept: for the next of a page, and for one that came unasked. */
  moments: 1 | 2
  soonestMs: number
  /** How far apart they lie, and how far where many pages wait. */
  apartMs: number
  apartInCrowdMs: number
  latestMs: number
  remaining: number
  resetInMs: number
}

export interface PresenceBook {
  /** Notes that something was seen now. Costs no statement; lost at most some seconds in a crash. */
  mark(orgRef: OrganisationRef, mark: PresenceMark, now: number): void
  /** Undefined where there is nothing to wait for: the version was recorded a moment ago. */
  recordSnippetVersion(
    orgRef: OrganisationRef,
    version: string,
    at: number,
  ): Promise<void> | undefined
  /** Counts a request that was refused for its origin. */
  recordRefusedOrigin(orgRef: OrganisationRef, at: number): Promise<void>
  /** Notes that a limit was reached: once a minute, however many requests are refused. */
  recordLimited(orgRef: OrganisationRef, bucket: Bucket, at: number): Promise<void>
  /**
   * Keeps a moment for a heartbeat, after those that were kept before: so many milliseconds from now,
   * which is monotonic. Costs no statement.
   */
  reserveBeat(orgRef: OrganisationRef, now: number, bounds: BeatBounds): number
  /** Counts hashes of users that were judged. Costs no statement; lost at most some seconds in a crash. */
  countUserHashes(orgRef: OrganisationRef, counts: Partial<UserHashCounts>): void
  read(orgRef: OrganisationRef, now: number): Promise<Presence>
}

/** A flow, and its history, which says where its steps stand. */
export interface FlowRuns extends StepHistory<StepRef> {
  orgRef: OrganisationRef
  flowRef: FlowRef
}

/** A run as it is exported: its own events' state with what was assigned to it. */
export interface RunRow {
  key: string
  person: string
  startedAt: number
  lastAt: number
  version: number
  completedAt: number | null
  dismissedAt: number | null
  steps: readonly RunStep<StepRef>[]
}

/** An event of the ledger as it is exported. */
export interface StoredEvent extends NewEvent {
  receivedAt: number
  source: EventSource
}

export interface AnalyticsReader {
  /** Runs that started in the range, by start; a page at a time, so that no snapshot is held. */
  runs(
    orgRef: OrganisationRef,
    flowRef: FlowRef,
    range: TimeRange,
  ): AsyncIterable<readonly RunRow[]>
  /** Events of a flow that occurred in the range, in the order of arrival; a page at a time. */
  events(
    orgRef: OrganisationRef,
    flowRef: FlowRef,
    range: TimeRange,
  ): AsyncIterable<readonly StoredEvent[]>
  /**
   * Runs that started in the range, ascending by start, all as of one moment, with what their people
   * ever ticked. One reading at a time, and to its end: it holds a snapshot.
   */
  columns(flow: FlowRuns, range: TimeRange): AsyncIterable<RunColumns<StepRef, ItemRef>>
}

/** Storage as the modules see it. */
export interface Stores {
  /** As of the last change that any thread knows of: ask for it anew in each request. */
  catalogue(): Catalogue
  ledger: Ledger
  checklists: ChecklistReader
  people: HistoryReader
  steps: StepBook
  presence: PresenceBook
  analytics: AnalyticsReader
}
