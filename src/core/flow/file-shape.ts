import type { TObject, TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors'
import { Value } from '@sinclair/typebox/value'
import { isCollection, isMap, isScalar, type Node } from 'yaml'
import { type ShapeProblem, shapeProblems, typeOf } from '../shape-problems.ts'
import { didYouMean, quoted, shown, unknownField } from '../text/wording.ts'
import { authoringOf, branchOf, isDerived, namedBy } from './authoring.ts'
import { type FlowProblem, error as problem } from './problem.ts'
import { at } from './texts/fields.ts'

/** What an author wrote, read by a schema. */
export interface ReadShape {
  /** With the defaults of the schema, in the schema's order, and without fields that only the server sets. */
  value: unknown
  problems: ShapeProblem[]
  /** For each mapping, by its JSON pointer, the names of its fields whose shape is wrong. */
  wrong: ReadonlyMap<string, ReadonlySet<string>>
}

/** Bounds the time that a file of wrong fields takes. */
const maxRead = 10_000

/** @param unread pointers of fields that are known to be wrong */
export function readShape(
  schema: TSchema,
  written: unknown,
  unread: readonly string[] = [],
): ReadShape {
  const value = filled(schema, written)
  const problems = new Map<string, ShapeProblem>()
  for (const problem of errorsOf(schema, value)) {
    // Of several problems at one place the first is reported.
    if (!problems.has(problem.path)) problems.set(problem.path, problem)
    if (problems.size === maxRead) break
  }
  const wrong = new Map<string, Set<string>>()
  const addWrong = (path: string) => {
    const names = path.split('/')
    for (let depth = 1; depth < names.length; depth++) {
      const holder = names.slice(0, depth).join('/')
      wrong.set(holder, (wrong.get(holder) ?? new Set()).add(names[depth]!))
    }
  }
  for (const path of unread) addWrong(path)
  const withUnknown = new Map<string, TSchema>()
  for (const { path, error } of problems.values()) {
    addWrong(path)
    const isUnknown = error.type === ValueErrorType.ObjectAdditionalProperties
    if (isUnknown) withUnknown.set(path.slice(0, path.lastIndexOf('/')), error.schema)
  }
  // Perhaps one of the fields that are not set is the one that an unknown name means.
  for (const [holder, schema] of withUnknown) {
    const names = new Set(Object.keys(schema.properties ?? {}))
    const fields = new Set(Object.keys(at(written, holder.split('/').slice(1)) as object))
    for (const name of names.difference(fields)) addWrong(`${holder}/${name}`)
  }
  return { value, problems: [...problems.values()].filter(isReported), wrong }
}

/** A field that follows from others is missing only where one of those is wrong. */
const isReported = ({ error: { type, schema } }: ShapeProblem) =>
  type !== ValueErrorType.ObjectRequiredProperty || !isDerived(schema)

const checks = new Map<TSchema, TypeCheck<TSchema>>()

/** To search for errors takes many times as long as to find that there are none. */
function errorsOf(schema: TSchema, value: unknown): Iterable<ShapeProblem> {
  const check = checks.get(schema) ?? TypeCompiler.Compile(schema)
  checks.set(schema, check)
  return check.Check(value) ? [] : shapeProblems(check.Errors(value))
}

function filled(schema: TSchema, written: unknown): unknown {
  const branch = branchOf(schema, typeOf(written))
  if (Array.isArray(written)) {
    const isRead = branch.type === 'array' && written.length <= (branch.maxItems ?? Infinity)
    return isRead ? written.map(entry => filled(branch.items, entry)) : written
  }
  if (typeof written !== 'object' || written === null || branch.type !== 'object') return written
  const named = namedBy(branch)
  const entries = Object.entries(written)
  if (named) return Object.fromEntries(entries.map(([name, one]) => [name, filled(named.of, one)]))
  return filledFields(branch as TObject, written as Record<string, unknown>)
}

function filledFields(schema: TObject, written: Record<string, unknown>): unknown {
  const { owned, derived } = authoringOf(schema)
  const fields = new Map<string, unknown>()
  for (const [name, property] of Object.entries(schema.properties)) {
    if (Object.hasOwn(written, name)) fields.set(name, filled(property, written[name]))
    else if ('default' in property) fields.set(name, structuredClone(property.default))
  }
  const read = Object.fromEntries(fields)
  for (const [name, value] of Object.entries(derived)) {
    if (fields.has(name)) continue
    const found = value(read as never)
    if (Value.Check(schema.properties[name]!, found)) read[name] = found
  }
  const unknown = Object.entries(written).filter(([name]) => !(fields.has(name) || owned.has(name)))
  const inOrder = Object.keys(schema.properties).filter(name => Object.hasOwn(read, name))
  return Object.fromEntries([...inOrder.map(name => [name, read[name]] as const), ...unknown])
}

/** A problem as an author reads it: with what the file has there, and what to do. */
export function asAuthored({ path, message, error }: ShapeProblem, node: Node | null): FlowProblem {
  const { type, schema, value } = error
  const name = unescaped(path.slice(path.lastIndexOf('/') + 1))
  const place = `${path.slice(0, path.lastIndexOf('/'))}/${shown(path.slice(path.lastIndexOf('/') + 1))}`
  if (type === ValueErrorType.ObjectRequiredProperty) {
    return problem('missing_field', path, `The field ${quoted(name)} is missing: add it`)
  }
  if (type === ValueErrorType.ObjectAdditionalProperties) {
    const names = Object.keys(schema.properties ?? {})
    return names.length > 0
      ? problem('unknown_field', place, unknownField(name, names))
      : problem('invalid_value', place, `${quoted(name)} cannot be a name here`)
  }
  const must = messages[type] ?? message
  return problem(
    'invalid_value',
    path,
    `${must}, not ${describe(value, type)}${hintFor(error, node)}`,
  )
}

const unescaped = (name: string) => name.replaceAll('~1', '/').replaceAll('~0', '~')

/** Where authors of files say it otherwise than callers of the API. */
const messages: Partial<Record<ValueErrorType, string>> = {
  [ValueErrorType.Object]: 'Must be a mapping of fields',
  [ValueErrorType.Array]: 'Must be a list',
}

const isOfLength = new Set([
  ValueErrorType.StringMinLength,
  ValueErrorType.StringMaxLength,
  ValueErrorType.ArrayMinItems,
  ValueErrorType.ArrayMaxItems,
])

/** A value in words, to stand after "not". */
function describe(value: unknown, type: ValueErrorType): string {
  if (isOfLength.has(type)) return String((value as string | unknown[]).length)
  if (type === ValueErrorType.ObjectMaxProperties)
    return String(Object.keys(value as object).length)
  if (value === null || value === undefined) return 'empty'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  return typeof value === 'string' ? quoted(value) : shown(String(value))
}

/** Words that other tools use for "exists" with false. */
const notExists =
  /^(?:(?:does)?_?not_?exists?|nexists|(?:is_?)?(?:missing|absent|unset|null|not_?set))$/i

/** What to do about it, if YAML has probably read something else than its author meant, or a word is mistyped. */
function hintFor({ type, schema, value }: ValueError, node: Node | null): string {
  if (type === ValueErrorType.Union && typeof value === 'string') {
    const choices = (schema.anyOf as TSchema[]).flatMap(({ const: word }) => word ?? [])
    const isNegated = choices.includes('exists') && notExists.test(value.replace(/[ -]/g, '_'))
    return isNegated
      ? ': for "must not be there" write op: exists with value: false'
      : didYouMean(value, choices)
  }
  if (type === ValueErrorType.String) {
    if (isCollection(node)) return node.flow ? ': put it in quotes' : ''
    if (value !== null) return ': put it in quotes'
    const isComment = isScalar(node) && node.comment && node.source === ''
    return isComment ? ': what follows " #" is a comment, so put such text in quotes' : ''
  }
  const first = isMap(node) ? node.items[0]?.key : null
  const isDash =
    type === ValueErrorType.Array && isScalar(first) && /^-\S/.test(String(first.value))
  return isDash ? ': put a space after the dash' : ''
}
