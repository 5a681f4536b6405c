import type { TSchema } from '@sinclair/typebox'
import type { JsonSchema } from '../../core/flow/schema.ts'
import { defaultLimits, windowMs } from '../../core/organisation/limits.ts'
import type { Needs } from '../principal.ts'
import { behindHeader } from '../responder.ts'
import {
  defaultBodyLimitBytes,
  mayChange,
  type ResponseShape,
  type Route,
  takesKeyInQuery,
} from '../route.ts'
import { errorsOf } from './errors.ts'
import { type HeaderName, headersWith } from './headers.ts'
import type { SchemaBook } from './json-schema.ts'

/** A path as OpenAPI writes it. */
export const templateOf = (path: string): string => path.replace(/:(\w+)/g, '{$1}')

const parameter = (place: string, name: string, schema: JsonSchema, required = false) => {
  const { description, ...rest } = schema
  return {
    name,
    in: place,
    required,
    ...(description !== undefined && { description }),
    schema: rest,
  }
}

const pathParametersOf = ({ path }: Route) =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = '']) =>
    parameter('path', name, { type: 'string', minLength: 1 }, true),
  )

/** A query never holds null: a parameter without a value is absent. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values } = schema
  return {
    ...schema,
    ...(Array.isArray(type) && { type: type.find(name => name !== 'null') }),
    ...(Array.isArray(values) && { enum: values.filter(value => value !== null) }),
  }
}

const queryParametersOf = ({ query }: Route, book: SchemaBook) =>
  Object.entries<TSchema>(query?.properties ?? {}).map(([name, field]) =>
    parameter('query', name, withoutNull(book.of(field)), query?.required?.includes(name)),
  )

const headerParameter = (name: string, description: string) =>
  parameter('header', name, { type: 'string', description })

function requestOf(route: Route, book: SchemaBook) {
  const { body, binaryBody, bodyLimitBytes = defaultBodyLimitBytes } = route
  if (!body) {
    if (!binaryBody) return undefined
    const content = { '*/*': { schema: {} } }
    return {
      required: true,
      description: `A file of at most ${bodyLimitBytes / 1024} KiB.`,
      content,
    }
  }
  const schema = book.of(body)
  const asText = { type: 'string', contentMediaType: 'application/json', contentSchema: schema }
  return {
    required: true,
    description: `At most ${bodyLimitBytes / 1024} KiB.`,
    // A browser's beacon sends text/plain, which needs no preflight.
    content: { 'application/json': { schema }, 'text/plain': { schema: asText } },
  }
}

const headersOf = ({ type, isShared, hasETag, isFile }: ResponseShape): HeaderName[] => [
  ...(hasETag || isShared ? (['ETag'] as const) : []),
  ...(isFile ? (['Content-Disposition'] as const) : []),
  ...(type === 'text/html' ? (['Content-Security-Policy'] as const) : []),
]

function responseOf(shape: ResponseShape, route: Route, book: SchemaBook) {
  const { description, schema, example, type = 'application/json', isShared } = shape
  const headers = headersWith(
    ...headersOf(shape),
    ...(isShared ? (['Content-Encoding'] as const) : []),
    ...(mayChange(route) ? [behindHeader] : []),
  )
  if (!schema) return { description, headers }
  const media = { schema: book.of(schema), ...(example !== undefined && { example }) }
  return { description, headers, content: { [type]: media } }
}

function authorisation(scope: Needs): string {
  if (scope === 'operator') return "Only for the operator, on the server's machine."
  return scope === 'any' ? 'Any management token is accepted.' : `Requires the scope \`${scope}\`.`
}

/** The schemes that a route accepts; any one entry of the list is enough. */
function securityOf(route: Route): Record<string, never[]>[] {
  if (route.caller === 'anyone') return []
  if (route.caller === 'management') return [{ managementToken: [] }]
  if (route.caller === 'session token') return [{ sessionToken: [] }]
  return takesKeyInQuery(route)
    ? [{ snippetKey: [] }, { snippetKeyInQuery: [] }]
    : [{ snippetKey: [] }]
}

/** One route as an OpenAPI operation. */
export function operationOf(route: Route, book: SchemaBook) {
  const { bucket } = route
  const responses = Object.entries(route.responses) as [string, ResponseShape][]
  const shared = responses.map(([, shape]) => shape).find(({ isShared }) => isShared)
  const requests = bucket && defaultLimits[bucket]
  const limit = bucket
    ? `Limit: ${requests} requests a minute for each organisation (\`${bucket}\`).`
    : 'No authentication and no limit.'
  const scope = route.caller === 'management' ? route.needs : null
  const requestBody = requestOf(route, book)
  return {
    operationId: route.operation,
    tags: [route.tag],
    summary: route.summary,
    description: [route.description, scope && authorisation(scope), limit]
      .filter(Boolean)
      .join('\n\n'),
    parameters: [
      ...pathParametersOf(route),
      ...queryParametersOf(route, book),
      ...(shared ? [headerParameter('If-None-Match', 'The `ETag` of the response you have.')] : []),
      ...(route.isConditional
        ? [
            headerParameter('If-Match', 'The `ETag` of the state you have read.'),
            headerParameter('If-None-Match', '`*` to create what does not exist yet.'),
          ]
        : []),
    ],
    ...(requestBody && { requestBody }),
    responses: {
      ...errorsOf(route),
      ...Object.fromEntries(
        responses.map(([status, shape]) => [status, responseOf(shape, route, book)]),
      ),
      ...(shared && {
        304: {
          description: 'The `ETag` in `If-None-Match` is current. No body.',
          headers: headersWith(...headersOf(shared)),
        },
      }),
    },
    security: securityOf(route),
    ...(bucket && { 'x-rate-limit': { bucket, requests, windowSeconds: windowMs / 1000 } }),
    ...(scope && { 'x-scope': scope }),
  }
}
