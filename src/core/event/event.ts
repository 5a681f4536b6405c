import type { FlowRef, ItemRef, OrganisationRef, StepRef } from '../reference.ts'

/** What clients report. The position is the code by which a kind is stored, so append, never reorder. */
export const eventKinds = [
  'flow_started',
  'step_viewed',
  'step_completed',
  'step_skipped',
  'flow_completed',
  'flow_dismissed',
  'target_missing',
  'checklist_opened',
  'item_completed',
  'custom',
  /** Made by Cairn itself: the tick of an item was taken back. Clients do this by `checklist-progress`. */
  'item_reopened',
  'question_answered',
  /** A person would have seen a flow, but was held back to measure what the flow changes. */
  'flow_held_out',
] as const

export type EventKind = (typeof eventKinds)[number]

/** The kinds that clients may send. The functions below say what each must name. */
export const reportableKinds = eventKinds.filter(kind => kind !== 'item_reopened')

export const needsFlow = (kind: EventKind) => kind !== 'custom'

export const needsStep = (kind: EventKind) =>
  kind === 'step_viewed' ||
  kind === 'step_completed' ||
  kind === 'step_skipped' ||
  kind === 'target_missing' ||
  kind === 'question_answered'

/** Ticks, and ticks taken back. Other kinds may name an item too, but say nothing about its state. */
export const needsItem = (kind: EventKind) => kind === 'item_completed' || kind === 'item_reopened'

export const kindCode = Object.fromEntries(eventKinds.map((kind, code) => [kind, code])) as Record<
  EventKind,
  number
>

/** Where a stored event came from. The position is the code by which it is stored. */
export const eventSources = ['events', 'complete', 'checklist_progress', 'custom_event'] as const

export type EventSource = (typeof eventSources)[number]

/** Why an event of a batch was not stored. */
export const rejectionCodes = [
  'invalid',
  'unknown_flow',
  'unknown_step',
  'unknown_item',
  'unauthorized',
  'too_old',
  'too_large',
  'storage',
] as const

export type RejectionCode = (typeof rejectionCodes)[number]

/**
 * The name of a person within the organisation: `u` + user id, otherwise `a` + anonymous id. The two never
 * collide.
 */
export function personOf(userId: string | null, anonymousId: string | null): string {
  return userId === null ? `a${anonymousId}` : `u${userId}`
}

/** Everybody whom an event names: its person first, and an anonymous id beside a user's. */
export const namesOf = ({ userId, anonymousId }: PersonIds): string[] =>
  userId === null || anonymousId === null
    ? [personOf(userId, anonymousId)]
    : [`u${userId}`, `a${anonymousId}`]

/** The ids in a name that `personOf` made. */
export const idsOf = (person: string) =>
  person.startsWith('u')
    ? { userId: person.slice(1), anonymousId: null }
    : { userId: null, anonymousId: person.slice(1) }

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
  /** Rejected by the database itself, and stored as dead letters. */
  deadLetters: readonly number[]
  /** Events of people whose data was erased. They are not stored, and only the operator learns of them. */
  erased: readonly number[]
}

/** One person; at least one of the two is not null. */
export interface PersonIds {
  userId: string | null
  anonymousId: string | null
}
