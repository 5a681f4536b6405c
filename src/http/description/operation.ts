import type { JsonSchema } from '../../core/flow/schema.ts'
import { defaultLimits, windowMs } from '../../core/organisation/buckets.ts'
import type { Needs } from '../principal.ts'
import { behindHeader } from '../responder.ts'
import { type AnswerShape, defaultBodyLimitBytes, mayChange, type Route } from '../route.ts'
import { type HeaderName, headersWith } from './headers.ts'
import { exampleOf, type SchemaBook } from './json-schema.ts'
import { refusalsOf } from './refusals.ts'
import { securityOf } from './security.ts'

const windowSeconds = windowMs / 1000

/** The parameters of paths, by their names in the routes. */
const pathParameters: Record<string, { description: string; example: string }> = {
  flow_id: { description: "The flow's id.", example: 'flow_8dPqM2xKc5VnTs1Ya0' },
  key: { description: "The flow's key.", example: 'welcome' },
  version: { description: 'The number of a version.', example: '3' },
  step: { description: "The step's key.", example: 'create' },
  webhook_id: { description: "The webhook's id.", example: 'webhook_4sWq9xLm2VbTn8Rk0c' },
  delivery_id: { description: "The message's id.", example: 'msg_7xQm2LkVb9TnRw4s0c' },
  session_id: { description: "The author session's id.", example: 'author_3xYzQa1b2c3d4e5f6g' },
  preview_id: { description: "The link's id.", example: 'preview_3xYzQa1b2c3d4e5f6g' },
  organisation: {
    description: 'The id or slug of the organisation at the other end.',
    example: 'harbor-staging',
  },
  token_id: { description: "The token's id.", example: 'token_4sWq9xLm2VbTn8Rk0c' },
  step_id: { description: "The step's id.", example: 'step_oS7uAWwXw1gOJgTNdr' },
  file: { description: 'A file that the page loads.', example: 'page.js' },
}

const parametersOf = (path: string) =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: pathParameters[name]?.description,
    schema: { type: 'string', minLength: 1, examples: [pathParameters[name]?.example] },
  }))

/** A path as OpenAPI writes it. */
export const templateOf = (path: string): string => path.replace(/:(\w+)/g, '{$1}')

/** A query never holds null: a parameter without a value is left out. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const { type, enum: words } = schema
  return {
    ...schema,
    ...(Array.isArray(type) && { type: type.find(name => name !== 'null') }),
    ...(Array.isArray(words) && { enum: words.filter(word => word !== null) }),
  }
}

function queryOf({ query }: Route, book: SchemaBook) {
  return Object.entries(query?.properties ?? {}).map(([name, field]) => {
    // The examples stay in the schema: the page would send the parameter's own example along with the rest.
    const { description, ...schema } = withoutNull(book.of(field))
    return {
      name,
      in: 'query',
      required: query?.required?.includes(name) ?? false,
      ...(description !== undefined && { description }),
      schema,
    }
  })
}

function requestOf(route: Route, book: SchemaBook) {
  if (!route.body) return undefined
  const schema = book.of(route.body)
  const example = exampleOf(schema, book.components)
  const asText = { type: 'string', contentMediaType: 'application/json', contentSchema: schema }
  return {
    required: true,
    description: `At most ${(route.bodyLimitBytes ?? defaultBodyLimitBytes) / 1024} KiB.`,
    // The second is the type that a browser's beacon sends without a preflight.
    content: {
      'application/json': { schema, example },
      'text/plain': { schema: asText, example: JSON.stringify(example) },
    },
  }
}

const ownHeaders = ({ type, isShared, hasETag, isFile }: AnswerShape): HeaderName[] => [
  ...(hasETag ? (['ETag'] as const) : []),
  ...(isShared ? (['ETag', 'Content-Encoding'] as const) : []),
  ...(isFile ? (['Content-Disposition'] as const) : []),
  ...(type === 'text/html' ? (['Content-Security-Policy'] as const) : []),
]

function answerOf(answer: AnswerShape, route: Route, book: SchemaBook) {
  const { description, schema, example, type = 'application/json' } = answer
  const own = [...ownHeaders(answer), ...(mayChange(route) ? [behindHeader] : [])]
  if (!schema) return { description, headers: headersWith(...own) }
  const plain = book.of(schema)
  const shown = example ?? exampleOf(plain, book.components)
  return {
    description,
    headers: headersWith(...own),
    content: { [type]: { schema: plain, example: shown } },
  }
}

/** Describes the answer to a caller that already has it. */
const notModified = (answer: AnswerShape) => ({
  description: 'The caller has this answer already, by its `If-None-Match`. No body.',
  headers: headersWith(...ownHeaders(answer).filter(name => name !== 'Content-Encoding')),
})

const preconditions = ['If-Match', 'If-None-Match'].map(name => ({
  name,
  in: 'header',
  required: false,
  description:
    name === 'If-Match' ? 'The `ETag` of what you have read.' : '`*` for what is not there yet.',
  schema: { type: 'string' },
}))

const ifNoneMatch = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The `ETag` of the answer that you have.',
  schema: { type: 'string' },
}

/** The sentence about the scope that a management token needs. */
function needed(scope: Needs): string {
  if (scope === 'operator') return 'For the operator, on the machine of the server.'
  return scope === 'any' ? 'For every management token.' : `Needs the scope \`${scope}\`.`
}

/** One route as an OpenAPI operation. Everything that follows from its data by a rule is derived here. */
export function operationOf(route: Route, book: SchemaBook) {
  const { bucket, answers } = route
  const given = Object.entries(answers) as [string, AnswerShape][]
  const shared = given.map(([, answer]) => answer).find(({ isShared }) => isShared)
  const limit = bucket && { bucket, requests: defaultLimits[bucket], windowSeconds }
  const counted = limit
    ? `Counted in \`${bucket}\`: ${limit.requests} requests a minute for the organisation.`
    : 'Anyone may call this, and it is not counted.'
  const scope = route.caller === 'management' ? route.needs : null
  const requestBody = requestOf(route, book)
  return {
    operationId: route.operation,
    tags: [route.tag],
    summary: route.summary,
    description: [route.description, scope && needed(scope), counted].filter(Boolean).join('\n\n'),
    parameters: [
      ...parametersOf(route.path),
      ...queryOf(route, book),
      ...(shared ? [ifNoneMatch] : []),
      ...(route.isConditional ? preconditions : []),
    ],
    ...(requestBody && { requestBody }),
    responses: {
      ...refusalsOf(route),
      ...Object.fromEntries(
        given.map(([status, answer]) => [status, answerOf(answer, route, book)]),
      ),
      ...(shared && { 304: notModified(shared) }),
    },
    security: securityOf(route),
    ...(limit && { 'x-rate-limit': limit }),
    ...(scope && { 'x-scope': scope }),
  }
}
