import type { FlowRef, ItemRef, OrganisationRef, StepRef } from '../reference.ts'
import type { EventKind, EventSource, RejectionCode } from './event.ts'
/** A valid event, as it will be stored. Times are epoch milliseconds. */
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
  /** JSON: the listed traits of a start, `ListedTraits`. */
  traits: string | null
  /** For an answered question: JSON, as `judgeAnswer` makes it. */
  answer: string | null
}

/** An event of the ledger as it is exported. */
export interface StoredEvent extends NewEvent {
  receivedAt: number
  source: EventSource
}

export interface EventBatch {
  orgRef: OrganisationRef
  receivedAt: number
  events: readonly NewEvent[]
  /** What was rejected before storage, for the install findings. */
  refusals: Partial<Record<RejectionCode, number>>
  /** Receipt minus `sentAt`, if the sender gave one. */
  skewMs: number | null
}

/** The outcome of a batch, by position in `events`. All events that are not named here were stored. */
export interface AppendOutcome {
  duplicates: readonly number[]
  /** Refused by the database itself, and kept as dead letters. */
  deadLetters: readonly number[]
  /** Events of people whose data was erased. They are not kept, and only the operator learns of them. */
  erased: readonly number[]
}

/** One person; at least one of the two is not null. */
export interface PersonIds {
  userId: string | null
  anonymousId: string | null
}
