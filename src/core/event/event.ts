import type { PersonIds } from './stored-event.ts'

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

/** Why an event of a batch was not kept. */
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
