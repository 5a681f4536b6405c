import { type Static, Type } from '@sinclair/typebox'
import { reportableKinds } from '../../core/event.ts'
import { Maybe, PersonFields, Time } from '../../http/shapes.ts'

const Id = (maxLength: number) => Type.String({ minLength: 1, maxLength })

/** One event as clients send it. Fields that are not named here are ignored. */
export const Event = Type.Object({
  id: Maybe(Id(64)),
  kind: Type.Union(reportableKinds.map(kind => Type.Literal(kind))),
  ...PersonFields,
  flowId: Maybe(Id(64)),
  flowVersion: Maybe(Type.Integer({ minimum: 1, maximum: 1_000_000_000 })),
  stepId: Maybe(Id(64)),
  itemId: Maybe(Id(64)),
  runId: Maybe(Id(64)),
  sessionId: Maybe(Id(64)),
  occurredAt: Maybe(Time),
  url: Maybe(Type.String({ maxLength: 2_048 })),
  name: Maybe(Id(64)),
  reason: Maybe(Type.String({ maxLength: 64 })),
  properties: Maybe(Type.Record(Type.String(), Type.Unknown())),
})
export type Event = Static<typeof Event>

/** The envelope: events are judged one by one, so that a bad one costs its neighbours nothing. */
export const Batch = Type.Object({
  sentAt: Maybe(Time),
  events: Type.Array(Type.Unknown(), { minItems: 1, maxItems: 50 }),
})
export type Batch = Static<typeof Batch>

export const propertyBounds = { keys: 32, bytes: 8 * 1024, depth: 8 }
