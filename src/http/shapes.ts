import { type TSchema, Type } from '@sinclair/typebox'
import { type FlowEntry, latestVersion } from '../core/catalogue.ts'
import { flowNotFound, invalid, type Problem } from '../core/errors.ts'
import type { PersonIds } from '../core/ports.ts'
import { parseTime } from '../core/rfc3339.ts'

/** Shapes and checks that several routes share. */

/** An optional field that may also be null, which means the same. */
export const Maybe = <T extends TSchema>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]))

export const PersonFields = {
  userId: Maybe(Type.String({ minLength: 1, maxLength: 128 })),
  anonymousId: Maybe(Type.String({ minLength: 1, maxLength: 128 })),
}

const timeDescription = 'an RFC 3339 time or epoch milliseconds'

export const Time = Type.Union([Type.String({ maxLength: 40 }), Type.Number()], {
  description: timeDescription,
})

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
  const problems = Object.entries(fields).flatMap(([name, value]): Problem[] =>
    typeof value === 'string' && !isCleanText(value)
      ? [{ path: `/${name}`, message: 'Must be well-formed Unicode without NUL' }]
      : [],
  )
  if (problems.length > 0) throw invalid(...problems)
}

/** A time of a body, epoch milliseconds; null where absent, a 422 where it is none. */
export function timeIn(fields: Readonly<Record<string, unknown>>, name: string): number | null {
  const value = fields[name] ?? null
  if (value === null) return null
  const at = parseTime(value)
  if (at === null) {
    throw invalid({ path: `/${name}`, message: `Must be ${timeDescription}` })
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
