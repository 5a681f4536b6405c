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
 * `judge` checks the limits, because it distinguishes what is too large from what is invalid. The gate only checks
 * that this is an object: as a record it would list every entry of each event, only to find all of them
 * valid.
 */
const Properties = DocumentedAs(
  Type.Unsafe<Record<string, unknown>>(Type.Object({})),
  Type.Record(Type.String(), Type.Unknown(), {
    maxProperties: propertyBounds.keys,
    description:
      `Your own data: at most ${propertyBounds.keys} keys, ${propertyBounds.bytes} bytes of JSON and ` +
      `${propertyBounds.depth} levels. Send whole numbers beyond 2^53 as text.`,
    examples: [{ plan: 'team' }],
  }),
)

/** Not limited here, because traits that are not listed are dropped. */
const SentTraits = DocumentedAs(
  Type.Unsafe<Record<string, unknown>>(Type.Object({})),
  Type.Record(Type.String(), Type.Unknown(), {
    description:
      'Traits of the person when the run starts. Only used with `flow_started`. Only traits listed in the ' +
      `settings are stored (at most ${maxTraits}), as texts of at most ${maxTraitLength} characters. Values that are not ` +
      'texts, numbers or booleans are ignored.',
    examples: [{ plan: 'team' }],
  }),
)

/** A field that some kinds require, in JSON Schema. */
const needing = (field: string, isNeeded: (kind: EventKind) => boolean) => ({
  if: { properties: { kind: { enum: reportableKinds.filter(isNeeded) } }, required: ['kind'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: [field], properties: { [field]: { type: 'string' } } },
})

/** Without times, so that it stays valid. */
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
        'Your ID of the event, so that it can be sent again. UUIDv7 is best. Generated if absent.',
        '0199c0de-0000-7000-8000-000000000001',
      ),
    ),
    kind: OneOf(reportableKinds, {
      description: 'What happened. Every kind except `custom` requires a `flowId`.',
      examples: ['step_viewed'],
    }),
    ...PersonFields,
    flowId: Maybe(Id(64, 'The flow in which it happened.', 'flow_8dPqM2xKc5VnTs1Ya0')),
    flowVersion: FlowVersion,
    stepId: Maybe(Id(64, 'The step. Required for kinds about a step.', 'step_oS7uAWwXw1gOJgTNdr')),
    itemId: Maybe(Id(64, 'The checklist item. Required for `item_completed`.')),
    runId: Maybe(Id(64, 'ID of the run: one pass of one person through the flow.')),
    sessionId: Maybe(Id(64, 'ID of the session. Separates runs if there is no `runId`.', 's1')),
    occurredAt: MaybeTime('When it happened. Default: now. A time in the future becomes now.'),
    url: Url,
    name: Maybe(Id(64, 'Name of a `custom` event. It can complete a checklist item.')),
    reason: Maybe(
      Type.String({
        maxLength: 64,
        description:
          'Why it happened, if there is a reason. With `flow_started`, what started the run: ' +
          '`launcher`, `button`, `checklist`, `trigger` or `code`; for a launcher `unread`, if it was ' +
          'opened with unread announcements. Runs are filtered and grouped by these values.',
        examples: ['launcher'],
      }),
    ),
    properties: Maybe(Properties),
    traits: Maybe(SentTraits),
  },
  {
    title: 'Event',
    description: 'Requires a `userId` or an `anonymousId`.',
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

export const Batch = Type.Object(
  {
    sentAt: MaybeTime(
      "The sender's clock when it sends. If it differs from the server's by more than a minute, the " +
        "events' times are corrected by the difference.",
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
    description: 'Position of the event in the batch, from 0.',
    examples: [3],
  }),
  id: OrNull(
    Type.String({
      maxLength: maxEventIdLength,
      examples: ['0199c0de-0000-7000-8000-000000000004'],
    }),
    'ID of the event. Null if it has no valid one.',
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
  duplicates: Count('Events whose ID was stored before. The first one stays.', 0),
  rejected: Count('Events that were not stored.', 1),
  results: Type.Array(EventResult, { description: 'Events that were not newly stored, in order.' }),
  skewMs: OrNull(
    Type.Integer(),
    'Time of receipt minus `sentAt`, in milliseconds. Null without `sentAt`.',
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

export const NothingKept = Type.Union([AllRejected, ValidationError])

/** The maximum number of lines, and the default. */
export const maxLines = 100_000

export const LogQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      pattern: '^[0-9a-z]{1,10}$',
      mustBe: 'the cursor of an event',
      description: 'The `cursor` of your last line. Default: start with the oldest event.',
    }),
  ),
  limit: Type.Optional(
    Type.String({
      pattern: `^([1-9]\\d{0,4}|${maxLines})$`,
      mustBe: `a number from 1 to ${maxLines}`,
      description: `Maximum number of lines, 1 to ${maxLines}. Default: ${maxLines}.`,
    }),
  ),
})
export type LogQuery = Static<typeof LogQuery>

export const EventLines = Type.String({
  description:
    'Newline-delimited JSON. Absent values are null. `source` is `events` if the event was sent, otherwise ' +
    "the request that it was made from. `reportedAt` is the time by the sender's clock, before correction.",
})

export const ActivityQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      pattern: '^[0-9a-f]{8}\\.\\d{1,15}$',
      mustBe: 'a cursor of this route',
      description: 'The `cursor` of the previous response. Default: all events in memory.',
    }),
  ),
})
export type ActivityQuery = Static<typeof ActivityQuery>
