/** What clients report. The order is the code by which a kind is stored: append, never reorder. */
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
  /** Cairn's own: an item's tick was taken back. Clients do it by `checklist-progress`. */
  'item_reopened',
  'question_answered',
  /** A person would have seen a flow, and was held back to measure what it changes. */
  'flow_held_out',
] as const

export type EventKind = (typeof eventKinds)[number]

/** The kinds that clients may send; what each must name. */
export const reportableKinds = eventKinds.filter(kind => kind !== 'item_reopened')

export const needsFlow = (kind: EventKind) => kind !== 'custom'

export const needsStep = (kind: EventKind) =>
  kind === 'step_viewed' ||
  kind === 'step_completed' ||
  kind === 'step_skipped' ||
  kind === 'target_missing' ||
  kind === 'question_answered'

/** Ticks and takings back: all else may name an item, but says nothing of its state. */
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

/** The organisation-wide name of a person: `u` + user id, else `a` + anonymous id; they never meet. */
export function personOf(userId: string | null, anonymousId: string | null): string {
  return userId === null ? `a${anonymousId}` : `u${userId}`
}

/** The ids of a person that `personOf` named. */
export const idsOf = (person: string) =>
  person.startsWith('u')
    ? { userId: person.slice(1), anonymousId: null }
    : { userId: null, anonymousId: person.slice(1) }
