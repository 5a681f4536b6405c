import type { FlowRef, ItemRef, OrganisationRef, StepRef } from '../reference.ts'
import type { EventKind, EventSource, RejectionCode } from './event.ts'
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
  /** JSON: the listed traits that a start says, `ListedTraits`. */
  traits: string | null
  /** Of an answered question: JSON, as `countedAnswer` makes it. */
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
