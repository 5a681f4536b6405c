import type { JsonSchema } from '../../core/flow/schema.ts'

const header = (description: string, schema: JsonSchema = { type: 'string' }) => ({
  description,
  required: true,
  schema,
})

/** A response may lack this header. */
const optional = (description: string, schema?: JsonSchema) => ({
  ...header(description, schema),
  required: false,
})

const count: JsonSchema = { type: 'integer', minimum: 0 }

const always = {
  'X-RateLimit-Limit': header('Requests per window.', count),
  'X-RateLimit-Remaining': header('Requests left in this window.', count),
  'X-RateLimit-Reset': header('When the window ends, in Unix seconds.', count),
  'X-Request-Id': header("Identifies the request in the server's log.", {
    type: 'string',
    pattern: '^[A-Za-z0-9]{16}$',
  }),
  'Cache-Control': header('Who may cache the response, and how long.'),
  Vary: header('Request headers that the response depends on.'),
}

/**
 * Every header of a response but `Content-Type`, which OpenAPI states with the body,
 * `X-Content-Type-Options` and those of CORS.
 */
export const headers = {
  ...always,
  ETag: header('Identifies this state and encoding. Send it as `If-None-Match`.', {
    type: 'string',
    pattern: '^"[^"]+"$',
  }),
  'Content-Encoding': optional('Absent if the body is not compressed.', {
    type: 'string',
    enum: ['br', 'zstd', 'gzip'],
  }),
  'Content-Disposition': header('The file name.'),
  'Content-Security-Policy': optional('What the page may load.'),
  'Cairn-Nodes-Behind': optional(
    'Servers of the same database that may return the previous state for up to 45 seconds. Absent if there are none.',
  ),
  'Retry-After': header('Seconds until you can retry.', { type: 'integer', minimum: 1 }),
  'WWW-Authenticate': header('The authentication scheme (RFC 6750).', {
    type: 'string',
    const: 'Bearer realm="cairn"',
  }),
}

export type HeaderName = keyof typeof headers

/** References to the headers of every response, and to these. */
export const headersWith = (...own: HeaderName[]) =>
  Object.fromEntries(
    [...Object.keys(always), ...own].map(name => [name, { $ref: `#/components/headers/${name}` }]),
  )
