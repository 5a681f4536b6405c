import { KindGuard, type Static, type TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors'
import { flowNotFound, invalid, mostProblems, type Problem } from '../core/errors.ts'
import { type FlowEntry, latestVersion } from '../core/organisation/catalogue.ts'
import type { PersonIds } from '../core/ports.ts'
import { parseTime } from '../core/time/rfc3339.ts'
import { timeWords } from './shapes.ts'

const count = (n: number, one: string) => `${n} ${one}${n === 1 ? '' : 's'}`

/** A sentence for each way in which a value can miss a schema; never with the value itself. */
function sentenceOf({ type, schema }: ValueError): string {
  switch (type) {
    case ValueErrorType.ObjectRequiredProperty:
      return 'Is required'
    case ValueErrorType.ObjectAdditionalProperties:
      return 'There is no such field'
    case ValueErrorType.Object:
      return 'Must be an object'
    case ValueErrorType.Array:
      return 'Must be an array'
    case ValueErrorType.ArrayMinItems:
      return `Must have at least ${count(schema.minItems, 'element')}`
    case ValueErrorType.ArrayMaxItems:
      return `Must have at most ${count(schema.maxItems, 'element')}`
    case ValueErrorType.ArrayUniqueItems:
      return 'Must not have an element twice'
    case ValueErrorType.Literal:
      return `Must be ${schema.const}`
    case ValueErrorType.Boolean:
      return 'Must be true or false'
    case ValueErrorType.Integer:
      return 'Must be a whole number'
    case ValueErrorType.Number:
      return 'Must be a number'
    case ValueErrorType.IntegerMinimum:
    case ValueErrorType.NumberMinimum:
      return `Must be at least ${schema.minimum}`
    case ValueErrorType.IntegerMaximum:
    case ValueErrorType.NumberMaximum:
      return `Must be at most ${schema.maximum}`
    case ValueErrorType.String:
      return 'Must be a text'
    case ValueErrorType.StringMinLength:
      return `Must have at least ${count(schema.minLength, 'character')}`
    case ValueErrorType.StringMaxLength:
      return `Must have at most ${count(schema.maxLength, 'character')}`
    default:
      return schema.mustBe ? `Must be ${schema.mustBe}` : 'Is not valid'
  }
}

/** What a union lets through: its words, or what its one branch that is not null misses. */
function* problemsOfUnion(error: ValueError): Iterable<Problem> {
  const { path, schema } = error
  const branches = (schema.anyOf as TSchema[]).map((branch, i) => ({
    branch,
    errors: error.errors[i] ?? [],
  }))
  const real = branches.filter(({ branch }) => !KindGuard.IsNull(branch))
  const [only] = real
  if (schema.mustBe) yield { path, message: `Must be ${schema.mustBe}` }
  else if (real.every(({ branch }) => KindGuard.IsLiteral(branch))) {
    yield { path, message: `Must be one of ${real.map(({ branch }) => branch.const).join(', ')}` }
  } else if (only && real.length === 1) yield* problemsOf(only.errors)
  else yield { path, message: 'Is not valid' }
}

function* problemsOf(errors: Iterable<ValueError>): Iterable<Problem> {
  for (const error of errors) {
    if (error.type === ValueErrorType.Union) yield* problemsOfUnion(error)
    else yield { path: error.path, message: sentenceOf(error) }
    // What else is wrong would be looked for in each element, however many there are.
    if (error.type === ValueErrorType.ArrayMaxItems) return
  }
}

/** A schema, compiled. */
export interface Shape<T extends TSchema> {
  fits(value: unknown): value is Static<T>
  /** Where a value misses the schema, each place once. */
  problemsIn(value: unknown): Problem[]
}

/**
 * A schema, compiled. Shapes are checked by this and not by Elysia: its error copies the caller's
 * whole input, overflows the stack on JSON that is nested deeply enough, and it closes objects, so
 * that an older server would refuse what a newer snippet adds.
 */
export function shapeOf<T extends TSchema>(schema: T): Shape<T> {
  const check = TypeCompiler.Compile(schema)
  return {
    fits: (value): value is Static<T> => check.Check(value),
    problemsIn(value) {
      const problems = new Map<string, Problem>()
      for (const problem of problemsOf(check.Errors(value))) {
        // Of several findings about one place the first says it.
        if (!problems.has(problem.path)) problems.set(problem.path, problem)
        if (problems.size === mostProblems) break
      }
      return [...problems.values()]
    },
  }
}

/** @throws AppError `validation_failed`, with the wrong places, for a value that misses the shape */
export function requireShape(shape: Shape<TSchema>, value: unknown): void {
  if (!shape.fits(value)) throw invalid(...shape.problemsIn(value))
}

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
