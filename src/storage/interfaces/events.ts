import { type StaticDecode, Type } from '@sinclair/typebox'
import {
  type AppendOutcome,
  type EventBatch,
  eventKinds,
  eventSources,
  rejectionCodes,
} from '../../core/event/event.ts'
import type { Catalogue } from '../../core/organisation/catalogue.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { Count, Instant, InstantOrNull, OneOf, OrNull } from '../../core/shapes.ts'
import type { SeenAtGate } from './gate.ts'

const TextOrNull = Type.Union([Type.String(), Type.Null()])

/** An event of the ledger, with the IDs and keys of what it names. */
export const LoggedEvent = Type.Object(
  {
    cursor: Type.String({
      description: 'Position among all events. Send it as `after` to get later ones.',
      examples: ['2h4c'],
    }),
    id: Type.String(),
    kind: OneOf(eventKinds, { examples: ['step_viewed'] }),
    source: OneOf(eventSources, {
      description: '`events` if it was sent. Otherwise, the request that it was made from.',
    }),
    userId: TextOrNull,
    anonymousId: TextOrNull,
    flowId: TextOrNull,
    flowKey: TextOrNull,
    flowVersion: Type.Union([Type.Integer(), Type.Null()]),
    stepId: TextOrNull,
    stepKey: TextOrNull,
    itemId: TextOrNull,
    itemKey: TextOrNull,
    runId: TextOrNull,
    sessionId: TextOrNull,
    occurredAt: Instant('When it happened.'),
    reportedAt: InstantOrNull("When it happened by the sender's clock, before correction."),
    receivedAt: Instant('When it was received.'),
    url: TextOrNull,
    name: TextOrNull,
    reason: TextOrNull,
    properties: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
    traits: Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()], {
      description:
        'The listed traits that a start was sent with, and its `reason` as `$start_reason`.',
    }),
  },
  { title: 'StoredEvent' },
)
export type LoggedEvent = StaticDecode<typeof LoggedEvent>

/** What an export of all events needs from storage. */
export interface EventLog {
  /**
   * Events of an organisation after a cursor, in the order of arrival, one page at a time. What arrives
   * later has a later cursor, so that nothing is left out or returned twice across calls.
   *
   * @param after the cursor of an event, which may be deleted by now; null to start at the oldest event
   *   that is kept
   * @param limit maximum number of events
   * @returns null for a cursor that no event of this ledger has had
   */
  after(
    orgRef: OrganisationRef,
    after: string | null,
    limit: number,
  ): Promise<AsyncIterable<readonly LoggedEvent[]> | null>
}

/** What accepting events needs from storage. A store that cannot take more throws `AppError('overloaded')`. */
export interface EventStores {
  catalogue(): Catalogue
  ledger: EventLedger
  presence: Pick<SeenAtGate, 'mark' | 'countUserHashes'>
  watch: EventWatch
}

const Sent = (description: string, example: string | null) =>
  OrNull(Type.String(), description, example)

/** An event with its verdict, for those who watch. Texts are as they were sent, but cut. */
const JudgedEvent = Type.Object({
  receivedAt: Instant('When it was received.'),
  verdict: OneOf(['accepted', 'duplicate', 'rejected'], { examples: ['rejected'] }),
  code: OrNull(OneOf(rejectionCodes), 'Why it was rejected.', 'unknown_step'),
  message: Sent('What to change.', 'The flow never had a step with this stepId'),
  id: Sent(
    'ID of the event. Null if it was sent without one.',
    '0199c0de-0000-7000-8000-000000000001',
  ),
  kind: Sent('Kind of the event.', 'step_viewed'),
  flowId: Sent('The flow that it names.', 'flow_8dPqM2xKc5VnTs1Ya0'),
  flowKey: Sent('Key of the flow. Null if the flow is not yours.', 'welcome'),
  stepId: Sent('The step that it names.', 'step_oS7uAWwXw1gOJgTNdr'),
  stepKey: Sent('Key of the step. Null if the step is not yours.', null),
  name: Sent('Name of a custom event.', null),
  url: Sent('URL of the page.', 'https://app.example.com/projects'),
  userId: Sent('User ID. Null without the scope `people:read`.', 'ann'),
  anonymousId: Sent('Anonymous ID. Null without the scope `people:read`.', null),
})
export type JudgedEvent = StaticDecode<typeof JudgedEvent>

/** Receives judged events for those who watch. */
export interface EventWatch {
  /** Costs next to nothing if nobody watches. */
  isWatched(orgRef: OrganisationRef): boolean
  /** Nobody waits for this, and it never fails. */
  note(orgRef: OrganisationRef, events: readonly JudgedEvent[]): void
}

/** What has arrived since somebody began to watch. */
export const Activity = Type.Object(
  {
    cursor: Type.String({
      description: 'Send it as `after` to get later events.',
      examples: ['4f0c2a9b.12'],
    }),
    since: Instant('When watching began. Earlier events are not returned.'),
    isAnew: Type.Boolean({
      description:
        'Discard earlier responses: watching has started again, because nobody called this for 30 ' +
        'seconds or a person was erased.',
    }),
    missed: Count('Events since the cursor that are left out, because there were too many.', 0),
    events: Type.Array(JudgedEvent, { description: 'In order of arrival.' }),
  },
  { title: 'Activity' },
)
export type Activity = StaticDecode<typeof Activity>

/** What watching needs from storage. */
export interface ActivityStore {
  /**
   * What has arrived after a cursor. Asking is watching: for half a minute, what arrives is remembered.
   * Nothing is returned about people whose data was erased.
   */
  after(orgRef: OrganisationRef, cursor: string | null): Promise<Activity>
}

/** A report about a person whose data was erased gets the usual response, but is not stored. */
export interface EventLedger {
  /** Resolves once the batch is committed and synced, or at once with `ack=buffer`. */
  append(batch: EventBatch): Promise<AppendOutcome>
}
