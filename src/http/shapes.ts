import { type TLiteral, type TSchema, type TUnion, Type } from '@sinclair/typebox'
import { flowNotFound, invalid, type Problem } from '../core/errors.ts'
import type { PersonIds } from '../core/event/stored-event.ts'
import { type FlowEntry, latestVersion } from '../core/organisation/catalogue.ts'
import { furthestMs, parseTime, timePattern } from '../core/time/rfc3339.ts'

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

const timeWords = 'an RFC 3339 time or epoch milliseconds'

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

/** A time as Cairn answers it. */
export const Instant = (description: string, example = '2026-11-20T09:30:00.000Z') =>
  Type.String({ format: 'date-time', description, examples: [example] })

/** A time that may not have come. */
export const InstantOrNull = (description: string, example?: string) =>
  Type.Union([Instant(description, example), Type.Null()])

/** How many there are of something. */
export const Count = (description: string, example: number) =>
  Type.Integer({ minimum: 0, description, examples: [example] })

export const FlowId = Type.String({
  description: "The flow's id.",
  examples: ['flow_8dPqM2xKc5VnTs1Ya0'],
})

export const StepId = Type.String({
  description: "The step's id.",
  examples: ['step_oS7uAWwXw1gOJgTNdr'],
})

export const ItemId = Type.String({
  description: "The item's id.",
  examples: ['item_Zt3kYv0Qb2nRfLx8Pw'],
})

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

/** Text that SQLite and every reader of an export keep as it is: well-formed Unicode without NUL. */
export const isCleanText = (text: string) => text.isWellFormed() && !text.includes('\0')

/** The person that a body or query names; a 422 where it names none, or by a text that cannot be kept. */
export function personIn(fields: {
  userId?: string | null
  anonymousId?: string | null
}): PersonIds {
  const ids = { userId: fields.userId ?? null, anonymousId: fields.anonymousId ?? null }
  if (ids.userId === null && ids.anonymousId === null) {
    throw invalid({ path: '/userId', message: 'Name a userId or an anonymousId' })
  }
  requireCleanText(ids)
  return ids
}

/** A 422 for the first field whose text cannot be kept as it is. */
export function requireCleanText(fields: Readonly<Record<string, unknown>>): void {
  const problems: Problem[] = []
  for (const name in fields) {
    const value = fields[name]
    if (typeof value !== 'string' || isCleanText(value)) continue
    problems.push({ path: `/${name}`, message: 'Must be well-formed Unicode without NUL' })
  }
  if (problems.length > 0) throw invalid(...problems)
}

/** A time of a body, epoch milliseconds; null where absent, a 422 where it is none. */
export function timeIn(fields: Readonly<Record<string, unknown>>, name: string): number | null {
  const value = fields[name] ?? null
  if (value === null) return null
  const at = parseTime(value)
  if (at === null) {
    throw invalid({ path: `/${name}`, message: `Must be ${timeWords}` })
  }
  return at
}

/** The version that a report names, else the newest; a 422 for one that was never published. */
export function versionIn(named: number | null | undefined, flow: FlowEntry): number {
  const newest = latestVersion(flow)
  if (newest === null) throw flowNotFound()
  if (named && named > newest) {
    throw invalid({ path: '/flowVersion', message: 'This version was never published' })
  }
  return named ?? newest
}
