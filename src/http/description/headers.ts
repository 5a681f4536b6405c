import type { JsonSchema } from '../../core/flow/schema.ts'

interface Header {
  description: string
  /** Absent if a response may lack it. */
  required?: true
  schema: JsonSchema
}

const integer = { type: 'integer', minimum: 0 }
const string = { type: 'string' }

const always = {
  'X-RateLimit-Limit': { description: 'Requests per window.', required: true, schema: integer },
  'X-RateLimit-Remaining': {
    description: 'Requests left in this window.',
    required: true,
    schema: integer,
  },
  'X-RateLimit-Reset': {
    description: 'When the window ends, in Unix seconds.',
    required: true,
    schema: integer,
  },
  'X-Request-Id': {
    description: "Identifies the request in the server's log.",
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9]{16}$' },
  },
  'Cache-Control': {
    description: 'Who may cache the response, and how long.',
    required: true,
    schema: string,
  },
  Vary: {
    description: 'Request headers that the response depends on.',
    required: true,
    schema: string,
  },
} satisfies Record<string, Header>

/**
 * Every header of a response but `Content-Type`, which OpenAPI states with the body,
 * `X-Content-Type-Options` and those of CORS.
 */
export const headers = {
  ...always,
  ETag: {
    description: 'Identifies this state and encoding. Send it as `If-None-Match`.',
    required: true,
    schema: { type: 'string', pattern: '^"[^"]+"$' },
  },
  'Content-Encoding': {
    description: 'Absent if the body is not compressed.',
    schema: { type: 'string', enum: ['br', 'zstd', 'gzip'] },
  },
  'Content-Disposition': { description: 'The file name.', required: true, schema: string },
  'Content-Security-Policy': { description: 'What the page may load.', schema: string },
  'Cairn-Nodes-Behind': {
    description:
      'Servers of the same database that may return the previous state for up to 45 seconds. Absent if there are none.',
    schema: string,
  },
  'Retry-After': {
    description: 'Seconds until you can retry.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
  'WWW-Authenticate': {
    description: 'The authentication scheme (RFC 6750).',
    required: true,
    schema: { type: 'string', const: 'Bearer realm="cairn"' },
  },
} satisfies Record<string, Header>

export type HeaderName = keyof typeof headers

/** References to the headers of every response, and to these. */
export const headersWith = (...own: HeaderName[]) =>
  Object.fromEntries(
    [...Object.keys(always), ...own].map(name => [name, { $ref: `#/components/headers/${name}` }]),
  )
