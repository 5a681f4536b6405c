import { FormatRegistry, type TSchema, Type } from '@sinclair/typebox'
import { isoTime, maxMs, timePattern } from './time/clock.ts'

/** Shapes and checks that several routes share. */

/** An optional field that may also be null, which means the same. */
export const Maybe = <T extends TSchema>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]))

/** Under this key a schema holds the one that the API's description shows in its place. */
export const documentedAs = Symbol('documented as')

/** A value that the gate checks loosely, because a rule of the module checks it strictly. */
export const DocumentedAs = <T extends TSchema>(checked: T, documented: TSchema): T => ({
  ...checked,
  [documentedAs]: documented,
})

const Person = (description: string, example: string) =>
  Maybe(Type.String({ minLength: 1, maxLength: 128, description, examples: [example] }))

/** Has no pattern: any text is checked as a hash, and is wrong. */
const UserHash = Maybe(
  Type.String({
    maxLength: 128,
    description:
      'HMAC-SHA256 of the `userId`, in lower-case hex, made by your back end. Required with each ' +
      '`userId` if the organisation enforces identity verification.',
  }),
)

export const PersonFields = {
  userId: Person('Your ID of the signed-in user.', 'ann'),
  anonymousId: Person('ID of an anonymous visitor.', 'anon-5c1f'),
  userHash: UserHash,
}

/** The rule of `personIn` about the two ids, as a keyword of the object that has them. */
export const namesPerson = {
  anyOf: ['userId', 'anonymousId'].map(name => ({
    required: [name],
    properties: { [name]: { type: 'string' } },
  })),
}

/** The most elements that a page of a list has. */
export const maxListed = 200

/** How many elements of a list are returned, as a parameter of the query. */
export const ListLimit = (byDefault: number, what: string) =>
  Type.Optional(
    Type.String({
      pattern: '^([1-9]\\d?|1\\d\\d|200)$',
      mustBe: `a number from 1 to ${maxListed}`,
      description: `Maximum number of ${what}, 1 to ${maxListed}. Default: ${byDefault}.`,
    }),
  )

export const timeWords = 'an RFC 3339 time or epoch milliseconds'

/** `timeIn` and `parseTime` decide which days and hours exist. */
export const Time = Type.Union([Type.String({ maxLength: 40 }), Type.Number()], {
  mustBe: timeWords,
})

/** A time that may be left out. It has no example, because one that is sent unchanged would become too old. */
export const MaybeTime = (description: string) =>
  DocumentedAs(
    Maybe(Time),
    Maybe(
      Type.Union(
        [
          Type.String({ maxLength: 40, pattern: timePattern.source }),
          Type.Number({ minimum: -maxMs, maximum: maxMs }),
        ],
        { description: `${description} RFC 3339 or epoch milliseconds.` },
      ),
    ),
  )

/** A text in a response. */
export const Text = (description: string, example: string) =>
  Type.String({ description, examples: [example] })

/** A value of a response, or null. */
export const OrNull = <T extends TSchema>(schema: T, description: string, example?: unknown) =>
  Type.Union([schema, Type.Null()], {
    description,
    ...(example !== undefined && { examples: [example] }),
  })

FormatRegistry.Set('date-time', value => !Number.isNaN(Date.parse(value)))

/** A time in a response: epoch milliseconds in code, an RFC 3339 text once `toJson` has encoded it. */
export const Instant = (description: string, example = '2026-11-20T09:30:00.000Z') =>
  Type.Transform(Type.String({ format: 'date-time', description, examples: [example] }))
    .Decode(Date.parse)
    .Encode(isoTime)

/** A time that may not have come yet. */
export const InstantOrNull = (description: string, example?: string) =>
  Type.Union([Instant(description, example), Type.Null()])

/** How many there are of something. */
export const Count = (description: string, example: number) =>
  Type.Integer({ minimum: 0, description, examples: [example] })

/** A share of a whole, or a score, 0 to 1. */
export const Share = (description: string, example: number) =>
  Type.Number({ minimum: 0, maximum: 1, description, examples: [example] })

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
  Type.Unsafe<Words[number]>(
    Type.Union(
      words.map(word => Type.Literal(word)),
      options,
    ),
  )

/** The page that something was reported from. */
export const Url = Maybe(
  Type.String({
    maxLength: 2_048,
    description: 'URL of the page.',
    examples: ['https://app.example.com/projects'],
  }),
)

/** The version of a flow that a report is about. */
export const FlowVersion = Maybe(
  Type.Integer({
    minimum: 1,
    maximum: 1_000_000_000,
    description: 'The version that was shown. Default: the newest.',
    examples: [1],
  }),
)
