import type { JsonSchema } from '../../core/flow/schema.ts'

/** A response header as OpenAPI describes it. */
interface Header {
  description: string
  required?: true
  schema: JsonSchema
  example?: unknown
}

/**
 * Every header that an answer can have, except those that say nothing about the answer: `Content-Type`, which
 * OpenAPI states with the body, `X-Content-Type-Options` and those of CORS.
 */
export const headers = {
  'X-RateLimit-Limit': {
    description: 'Requests that a window admits.',
    required: true,
    schema: { type: 'integer', minimum: 0 },
    example: 60,
  },
  'X-RateLimit-Remaining': {
    description: 'How many of them are left.',
    required: true,
    schema: { type: 'integer', minimum: 0 },
    example: 59,
  },
  'X-RateLimit-Reset': {
    description: 'When the window ends, Unix seconds.',
    required: true,
    schema: { type: 'integer', minimum: 0 },
    example: 1_795_512_660,
  },
  'X-Request-Id': {
    description: "Names the request in the server's log.",
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9]{16}$' },
    example: 'q8ZsT1mWc0RkYf5B',
  },
  'Cache-Control': {
    description: 'Who may keep the answer, and how long.',
    required: true,
    schema: { type: 'string' },
    example: 'no-store',
  },
  Vary: {
    description: 'What of the request decides about the answer.',
    required: true,
    schema: { type: 'string' },
    example: 'Origin',
  },
  ETag: {
    description: 'Changes with the answer and with its encoding; send it as `If-None-Match`.',
    required: true,
    schema: { type: 'string', pattern: '^"[^"]+"$' },
    example: '"2v8k0m1c7d-br"',
  },
  'Content-Encoding': {
    description: 'Absent where the body is not compressed.',
    schema: { type: 'string', enum: ['br', 'zstd', 'gzip'] },
    example: 'br',
  },
  'Content-Disposition': {
    description: 'The name to save it by.',
    required: true,
    schema: { type: 'string' },
    example: 'attachment; filename="cairn-welcome-2026-11-01_2026-11-30.csv"',
  },
  'Content-Security-Policy': {
    description: 'What the page may load: what this server has, and nothing else.',
    schema: { type: 'string' },
    example: "default-src 'none'",
  },
  'Cairn-Nodes-Behind': {
    description:
      'Where several nodes share a database: those that may still answer by what was before, for up to 45 seconds. Absent where all know of the change, which is the rule.',
    schema: { type: 'string' },
    example: 'cairn-2:8080, cairn-3:8080',
  },
  'Retry-After': {
    description: 'Whole seconds after which to try again.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 42,
  },
  'WWW-Authenticate': {
    description: 'The scheme that is asked for (RFC 6750).',
    required: true,
    schema: { type: 'string', const: 'Bearer realm="cairn"' },
    example: 'Bearer realm="cairn"',
  },
} satisfies Record<string, Header>

export type HeaderName = keyof typeof headers

const always: readonly HeaderName[] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
  'Cache-Control',
  'Vary',
]

/** The headers of an answer: those that every answer has, and its own. */
export const headersWith = (...own: HeaderName[]) =>
  Object.fromEntries(
    [...always, ...own].map(name => [name, { $ref: `#/components/headers/${name}` }]),
  )
