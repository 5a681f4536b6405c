import { type Static, Type } from '@sinclair/typebox'
import {
  type EventKind,
  needsFlow,
  needsItem,
  needsStep,
  rejectionCodes,
  reportableKinds,
} from '../../core/event/event.ts'
import { maxTraitLength, maxTraits } from '../../core/event/traits.ts'
import {
  Count,
  DocumentedAs,
  FlowVersion,
  Maybe,
  MaybeTime,
  namesPerson,
  OneOf,
  OrNull,
  PersonFields,
  Text,
  Url,
} from '../../core/shapes.ts'
import { ValidationError } from '../../http/responder.ts'

const Id = (maxLength: number, description: string, ...examples: string[]) =>
  Type.String({ minLength: 1, maxLength, description, ...(examples.length > 0 && { examples }) })

export const maxEventIdLength = 64

/** The limits of `properties`. With these, a batch of fifty events fits into the limit of the body. */
export const propertyBounds = { keys: 32, bytes: 8 * 1024, depth: 8 }

/**
 * `judge` checks the limits, because it tells what is too large from what is wrong. The gate only checks
 * that this is an object: as a record it would list every entry of each event, only to find all of them
 * valid.
 */
const Properties = DocumentedAs(
  Type.Unsafe<Record<string, unknown>>(Type.Object({})),
  Type.Record(Type.String(), Type.Unknown(), {
    maxProperties: propertyBounds.keys,
    description:
      `Anything of your own: at most ${propertyBounds.keys} keys, ${propertyBounds.bytes} bytes of ` +
      `JSON, ${propertyBounds.depth} levels deep; no whole number beyond 2^53.`,
    examples: [{ plan: 'team' }],
  }),
)

/** Not limited here, because traits that are not listed are dropped. */
const Said = DocumentedAs(
  Type.Unsafe<Record<string, unknown>>(Type.Object({})),
  Type.Record(Type.String(), Type.Unknown(), {
    description:
      'With `flow_started`: what is known of the person when the run starts. Kept are the traits that the ' +
      `organisation lists (at most ${maxTraits}), where they are texts, numbers, true or false, as texts of at most ${maxTraitLength} ` +
      'characters; all else is let go. Elsewhere it means nothing.',
    examples: [{ plan: 'team' }],
  }),
)

/** A field that some kinds require, in JSON Schema. */
const needing = (field: string, isNeeded: (kind: EventKind) => boolean) => ({
  if: { properties: { kind: { enum: reportableKinds.filter(isNeeded) } }, required: ['kind'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: [field], properties: { [field]: { type: 'string' } } },
})

/** Has no times: sent as it is, it happened now and says nothing about the sender's clock. */
const exampleEvent = {
  id: '0199c0de-0000-7000-8000-000000000001',
  kind: 'step_viewed',
  userId: 'ann',
  flowId: 'flow_8dPqM2xKc5VnTs1Ya0',
  stepId: 'step_oS7uAWwXw1gOJgTNdr',
  sessionId: 's1',
}

/** One event as clients send it. Fields that are not named here are ignored. */
export const Event = Type.Object(
  {
    id: Maybe(
      Id(
        maxEventIdLength,
        'Your own, so that it can be sent again; UUIDv7 is best. The server makes one where absent.',
        '0199c0de-0000-7000-8000-000000000001',
      ),
    ),
    kind: OneOf(reportableKinds, {
      description: 'What happened. All but `custom` need a `flowId`.',
      examples: ['step_viewed'],
    }),
    ...PersonFields,
    flowId: Maybe(Id(64, 'The flow it happened in.', 'flow_8dPqM2xKc5VnTs1Ya0')),
    flowVersion: FlowVersion,
    stepId: Maybe(Id(64, 'The step, for step kinds.', 'step_oS7uAWwXw1gOJgTNdr')),
    itemId: Maybe(Id(64, 'The item, for `item_completed`.')),
    runId: Maybe(Id(64, 'One pass of one person through the flow.')),
    sessionId: Maybe(Id(64, 'Tells passes apart where there is no `runId`.', 's1')),
    occurredAt: MaybeTime('When it happened; now where absent, and never in the future.'),
    url: Url,
    name: Maybe(Id(64, 'Of a `custom` event, which needs one; it can tick an item.')),
    reason: Maybe(Type.String({ maxLength: 64, description: 'Why, where there is a reason.' })),
    properties: Maybe(Properties),
    traits: Maybe(Said),
  },
  {
    title: 'Event',
    description: 'Name the person by `userId` or `anonymousId`.',
    ...namesPerson,
    allOf: [
      needing('flowId', needsFlow),
      needing('stepId', needsStep),
      needing('itemId', needsItem),
      needing('name', kind => kind === 'custom'),
    ],
    examples: [exampleEvent],
  },
)
export type Event = Static<typeof Event>

/** The envelope. Events are judged one by one, so that a bad one does not affect the others. */
export const Batch = Type.Object(
  {
    sentAt: MaybeTime(
      "The sender's clock at the moment of sending, never a fixed time. Where it is over a minute off, " +
        "the events' times are corrected by as much; leave it out where the clock is right.",
    ),
    events: Type.Array(DocumentedAs(Type.Unknown(), Event), { minItems: 1, maxItems: 50 }),
  },
  { title: 'EventBatch', examples: [{ events: [exampleEvent] }] },
)
export type Batch = Static<typeof Batch>

/** The result for an event that was not newly stored. */
export const EventResult = Type.Object({
  index: Type.Integer({
    minimum: 0,
    description: "Which of the batch's events, from 0.",
    examples: [3],
  }),
  id: OrNull(
    Type.String({
      maxLength: maxEventIdLength,
      examples: ['0199c0de-0000-7000-8000-000000000004'],
    }),
    'Its id. Null if it has no valid one.',
  ),
  status: OneOf(['duplicate', 'rejected'], { examples: ['rejected'] }),
  code: Type.Optional(
    OneOf(rejectionCodes, { description: 'Why it was rejected.', examples: ['unknown_step'] }),
  ),
  message: Type.Optional(
    Text('What to change, in one sentence.', 'The flow never had a step with this stepId'),
  ),
})
export type EventResult = Static<typeof EventResult>

const outcome = {
  accepted: Count('Events that were newly stored.', 3),
  duplicates: Count('Events whose id was stored before; the first body stands.', 0),
  rejected: Count('Events that were not kept.', 1),
  results: Type.Array(EventResult, { description: 'Those that were not newly stored, in order.' }),
  skewMs: OrNull(
    Type.Integer(),
    'Receipt minus `sentAt`; times are corrected by it beyond a minute.',
    120,
  ),
}

export const BatchResult = Type.Object(outcome, { title: 'BatchResult' })
export type BatchResult = Static<typeof BatchResult>

const AllRejected = Type.Object(
  {
    ...outcome,
    error: Type.Literal('Every event was rejected'),
    code: Type.Literal('validation_failed'),
  },
  {
    title: 'AllRejected',
    examples: [
      {
        accepted: 0,
        duplicates: 0,
        rejected: 1,
        results: [
          {
            index: 0,
            id: null,
            status: 'rejected',
            code: 'invalid',
            message: 'Name a userId or an anonymousId',
          },
        ],
        skewMs: null,
        error: 'Every event was rejected',
        code: 'validation_failed',
      },
    ],
  },
)
export type AllRejected = Static<typeof AllRejected>

/** No event was kept: the envelope is wrong, or every event in it. */
export const NothingKept = Type.Union([AllRejected, ValidationError])

/** The most lines of one answer, and how many if the caller gives no number. */
export const maxLines = 100_000

export const LogQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      pattern: '^[0-9a-z]{1,10}$',
      mustBe: 'the cursor of an event',
      description: 'The `cursor` of the last line that you have; without it from the beginning.',
    }),
  ),
  limit: Type.Optional(
    Type.String({
      pattern: `^([1-9]\\d{0,4}|${maxLines})$`,
      mustBe: `a number from 1 to ${maxLines}`,
      description: `The most lines, 1 to ${maxLines}, which is what it is without.`,
    }),
  ),
})
export type LogQuery = Static<typeof LogQuery>

export const EventLines = Type.String({
  description:
    'Newline-delimited JSON. What an event does not have is null; `source` says whether it was sent, ' +
    'or made by Cairn from something else; `reportedAt` is the time of the sender, before its clock was corrected.',
})

export const ActivityQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      pattern: '^[0-9a-f]{8}\\.\\d{1,15}$',
      mustBe: 'a cursor of this route',
      description: 'The `cursor` of the answer before; without it all that is remembered.',
    }),
  ),
})
export type ActivityQuery = Static<typeof ActivityQuery>
