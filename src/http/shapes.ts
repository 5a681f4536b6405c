import { type TLiteral, type TSchema, type TUnion, Type } from '@sinclair/typebox'
import { furthestMs, timePattern } from '../core/time/rfc3339.ts'

/** Shapes and checks that several routes share. */

/** An optional field that may also be null, which means the same. */
export const Maybe = <T extends TSchema>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]))

/** Under it a schema holds what the API's description tells in its place. */
export const toldAs = Symbol('told as')

/** A place that the gate checks loosely, because a rule of the module's own judges it strictly. */
export const Told = <T extends TSchema>(judged: T, told: TSchema): T => ({
  ...judged,
  [toldAs]: told,
})

const Person = (description: string, example: string) =>
  Maybe(Type.String({ minLength: 1, maxLength: 128, description, examples: [example] }))

/** Any text is one to be judged: only the right one has its form. */
const UserHash = Maybe(
  Type.String({
    maxLength: 128,
    description:
      'HMAC-SHA256 of the `userId` in lower-case hex, made by your back end. Needed beside every ' +
      '`userId` where the organisation enforces verified identity.',
  }),
)

export const PersonFields = {
  userId: Person('Who it is, by your own name for them.', 'ann'),
  anonymousId: Person('Who it is, where nobody has signed in.', 'anon-5c1f'),
  userHash: UserHash,
}

/** What `personIn` asks of the two, as a keyword of the object that has them. */
export const namesPerson = {
  anyOf: ['userId', 'anonymousId'].map(name => ({
    required: [name],
    properties: { [name]: { type: 'string' } },
  })),
}

export const timeWords = 'an RFC 3339 time or epoch milliseconds'

/** Which days and hours there are is for `timeIn` and `parseTime` to say. */
export const Time = Type.Union([Type.String({ maxLength: 40 }), Type.Number()], {
  mustBe: timeWords,
})

/** A time that may be left out. It has no example: sent as it is, one would grow too old. */
export const MaybeTime = (description: string) =>
  Told(
    Maybe(Time),
    Maybe(
      Type.Union(
        [
          Type.String({ maxLength: 40, pattern: timePattern }),
          Type.Number({ minimum: -furthestMs, maximum: furthestMs }),
        ],
        { description: `${description} RFC 3339 or epoch milliseconds.` },
      ),
    ),
  )

/** A text as Cairn answers it. */
export const Text = (description: string, example: string) =>
  Type.String({ description, examples: [example] })

/** What is answered, or null. */
export const OrNull = <T extends TSchema>(schema: T, description: string, example?: unknown) =>
  Type.Union([schema, Type.Null()], {
    description,
    ...(example !== undefined && { examples: [example] }),
  })

/** A time as Cairn answers it. */
export const Instant = (description: string, example = '2026-11-20T09:30:00.000Z') =>
  Type.String({ format: 'date-time', description, examples: [example] })

/** A time that may not have come. */
export const InstantOrNull = (description: string, example?: string) =>
  Type.Union([Instant(description, example), Type.Null()])

/** How many there are of something. */
export const Count = (description: string, example: number) =>
  Type.Integer({ minimum: 0, description, examples: [example] })

export const FlowId = Text("The flow's id.", 'flow_8dPqM2xKc5VnTs1Ya0')

export const StepId = Text("The step's id.", 'step_oS7uAWwXw1gOJgTNdr')

export const ItemId = Text("The item's id.", 'item_Zt3kYv0Qb2nRfLx8Pw')

export const OrganisationId = Type.String({ examples: ['org_3pNw7sQk1XvLt5Zb8d'] })

/** What an organisation is called. */
export const OrganisationNames = {
  id: OrganisationId,
  slug: Type.String({ examples: ['harbor-inc'] }),
  name: Type.String({ examples: ['Harbor Inc'] }),
}

/** One of a list of words. */
export const OneOf = <const Words extends readonly string[]>(words: Words, options = {}) =>
  Type.Union(
    words.map(word => Type.Literal(word)),
    options,
  ) as unknown as TUnion<TLiteral<Words[number]>[]>

/** The page that something was reported from. */
export const Url = Maybe(
  Type.String({
    maxLength: 2_048,
    description: "The page's address.",
    examples: ['https://app.example.com/projects'],
  }),
)

/** The version of a flow that a report is about. */
export const FlowVersion = Maybe(
  Type.Integer({
    minimum: 1,
    maximum: 1_000_000_000,
    description: "The flow's version that was shown; the newest where absent.",
    examples: [1],
  }),
)
