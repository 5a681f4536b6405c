import type { JsonSchema } from '../../src/core/flow/schema.ts'
import type { Operation } from '../support/described.ts'
import type { Row } from './document.ts'

/** What the document has to have rows for with every management route. */

/** Callers that management does not know. Each gets the same 401. */
const strangers = [
  'nobody',
  'mistyped manager',
  'unknown manager',
  'revoked manager',
  'expired manager',
  '?manager',
  'key',
  'token',
]

const isOf = (row: Row, status: number) => row.status === status
const details = (row: Row) => (isOf(row, 422) ? row.body : [])
const sends = (row: Row, part: string | RegExp) =>
  row.input.some(span => (typeof part === 'string' ? span === part : part.test(span)))
/** Spans that are headers, or say how the body is sent, are no body. */
const hasBody = ({ input }: Row) => input.some(span => !/^(-?[A-Z][\w-]*:? |chunked$)/.test(span))

function* ofBody(
  { requestBody }: Operation,
  rows: readonly Row[],
  resolved: (schema: JsonSchema) => JsonSchema,
): Generator<string> {
  if (!requestBody) return
  const kibibytes = Number(/\d+/.exec(requestBody.description)![0])
  const { schema } = requestBody.content['application/json']!
  const wanted: [string, (row: Row) => boolean][] = [
    ['wrong JSON', row => isOf(row, 400) && hasBody(row)],
    ['no body', row => isOf(row, 400) && !hasBody(row)],
    ['a body that is no object', row => details(row)[0] === '(body) Must be an object'],
    ['another type of body', row => isOf(row, 415)],
    [
      'a body that is too large',
      row => isOf(row, 413) && sends(row, `padded to ${kibibytes * 1_024 + 1}`),
    ],
    ['an unknown field', row => details(row).some(one => one.startsWith('/nonsense '))],
  ]
  for (const name of Object.keys(resolved(schema).properties ?? {})) {
    const isAbout = (one: string) => one.startsWith(`/${name} `) || one.startsWith(`/${name}/`)
    wanted.push([`a wrong ${name}`, row => details(row).some(isAbout)])
  }
  for (const [what, isIt] of wanted) if (!rows.some(isIt)) yield what
}

function* ofParameters(
  { parameters, responses }: Operation,
  rows: readonly Row[],
): Generator<string> {
  const saysUnknown = '/nonsense There is no such parameter'
  if (!rows.some(row => details(row).includes(saysUnknown))) yield 'an unknown parameter'
  for (const { name, in: place } of parameters) {
    // To a route that makes what is not there yet, nothing is unknown.
    const isLookedUp = place === 'path' && '404' in responses
    if (isLookedUp && !rows.some(row => isOf(row, 404))) yield `an unknown ${name}`
    const isAbout = (one: string) => one.startsWith(`/${name} `)
    if (place === 'query' && !rows.some(row => details(row).some(isAbout))) yield `a wrong ${name}`
    if (name !== 'If-Match') continue
    if (!rows.some(row => isOf(row, 428))) yield 'no If-Match'
    if (!rows.some(row => isOf(row, 412) && sends(row, 'If-Match: "stale"'))) yield 'a stale ETag'
  }
}

function* ofCallers({ 'x-scope': scope }: Operation, rows: readonly Row[]): Generator<string> {
  const by = (caller: string) => rows.filter(row => row.caller === caller)
  for (const caller of strangers) {
    if (!by(caller).some(row => isOf(row, 401))) yield `401 to ${caller}`
  }
  if (by('their manager').length === 0) yield 'a token of another organisation'
  if (!by('small manager').some(row => isOf(row, 429))) yield '429'
  if (scope === 'any') return
  const named = scope === 'operator' ? 'This is for the operator' : `scope: ${scope}}`
  const isTold = ({ body: [told = ''] }: Row) => told.includes(named)
  if (!rows.some(row => isOf(row, 403) && isTold(row))) yield `a token without ${scope}`
}

/**
 * What one route has no row for.
 *
 * @param rows those of the route
 * @param resolved returns what a schema refers to
 */
export function missingRows(
  operation: Operation,
  rows: readonly Row[],
  resolved: (schema: JsonSchema) => JsonSchema,
): string[] {
  // Compaction is refused while a server runs.
  const isGood = ({ status }: Row) =>
    operation.operationId === 'compact' ? status === 409 : status < 300
  return [
    ...(rows.some(isGood) ? [] : ['an answer when all is well']),
    ...ofCallers(operation, rows),
    ...ofBody(operation, rows, resolved),
    ...ofParameters(operation, rows),
  ]
}
