import type { JsonSchema } from './flow/schema.ts'
import { shown } from './text/wording.ts'

/** One problem in a request: a JSON pointer and a sentence, never the caller's value. */
export interface Problem {
  path: string
  message: string
}

/** At most this many problems are returned. */
export const maxProblems = 20

/** An error as the API describes it. */
export interface ErrorEntry {
  status: number
  /** When it is returned. Absent for errors that only the log sees. */
  when?: string
  /** A fixed sentence. Such a body has no `code`. */
  sentence?: string
  header?: 'Retry-After' | 'WWW-Authenticate'
  /** Further fields of the body, as JSON Schema. */
  fields?: Readonly<Record<string, JsonSchema>>
}

const text = (description: string) => ({ type: 'string', description })
const textOrNull = (description: string) => ({ type: ['string', 'null'], description })

/** Every error of the API. */
export const errors = {
  malformed_json: {
    status: 400,
    when: 'The body is not JSON. Compressed bodies are not accepted.',
  },
  unauthorized: {
    status: 401,
    when: 'The credential is missing, unknown, expired, of the wrong kind or of another organisation, or the `userHash` is wrong or missing.',
    sentence: 'Unauthorized',
    header: 'WWW-Authenticate',
  },
  origin_not_allowed: { status: 403, when: 'The organisation does not list this `Origin`.' },
  forbidden: {
    status: 403,
    when: 'The credential is valid but may not do this.',
    fields: { scope: text('The missing scope. Absent if no scope is enough.') },
  },
  not_found: { status: 404, when: 'Nothing exists at this path.' },
  organisation_not_found: { status: 404, when: 'The organisation is unknown or missing.' },
  version_not_found: { status: 404, when: 'The flow has no version with this number.' },
  flow_not_found: {
    status: 404,
    when: 'No flow has this id or key. With a snippet key, no published flow has it.',
  },
  step_not_found: { status: 404, when: 'No step has this id or key.' },
  person_not_found: {
    status: 404,
    when: 'Nothing is stored about this person, or the person was not erased.',
  },
  dead_letter_not_found: { status: 404, when: 'One of the dead letters does not exist.' },
  segment_not_found: { status: 404, when: 'The organisation has no segment with this id.' },
  webhook_not_found: { status: 404, when: 'The organisation has no webhook with this id.' },
  delivery_not_found: { status: 404, when: 'No delivery of the last seven days has this id.' },
  method_not_allowed: { status: 405, when: 'The path does not accept this method. See `Allow`.' },
  too_many_flows: { status: 409, when: 'The organisation has the maximum number of flows.' },
  slug_taken: { status: 409, when: 'Another organisation has this slug.' },
  too_many_organisations: { status: 409, when: 'The server cannot hold more organisations.' },
  too_many_webhooks: { status: 409, when: 'The organisation has the maximum number of webhooks.' },
  too_many_segments: { status: 409, when: 'The organisation has the maximum number of segments.' },
  segment_name_taken: { status: 409, when: 'Another segment has this name.' },
  too_many_members: { status: 409, when: 'The organisation has the maximum number of members.' },
  last_owner: { status: 409, when: 'Without this owner, nobody could manage the organisation.' },
  cannot_change_member: {
    status: 409,
    when: 'The role of this member is fixed, or the member signs in without links.',
  },
  too_many_images: {
    status: 409,
    when: 'The organisation has the maximum number of images, or of bytes in them.',
  },
  too_many_changes: { status: 409, when: 'Too many proposed changes wait for the dashboard.' },
  too_many_previews: { status: 409, when: 'The organisation has too many preview links.' },
  sent_too_often: {
    status: 409,
    when: 'The maximum number of messages was sent on request. Nothing was sent or changed.',
    header: 'Retry-After',
  },
  cannot_link: { status: 409, when: 'One of them is linked already, or both are the same.' },
  two_secrets_work: { status: 409, when: 'The previous identity secret is still valid.' },
  rewriting_under_way: { status: 409, when: 'An erasure or a rebuild of analytics is running.' },
  nothing_to_repair: { status: 409, when: 'No selector was given, and none is suggested.' },
  flow_locked: { status: 409, when: 'The flow can only be changed in its repository.' },
  server_running: { status: 409, when: 'This is only possible while no server runs.' },
  unsupported_by_database: { status: 409, when: 'Several servers share the data.' },
  precondition_failed: {
    status: 412,
    when: 'It changed after you read it.',
    fields: {
      etag: textOrNull('The current `ETag`. Null if nothing exists.'),
      changedBy: textOrNull('Who changed it.'),
      changedAt: { ...textOrNull('When it changed.'), format: 'date-time' },
    },
  },
  precondition_required: { status: 428, when: '`If-Match` or `If-None-Match` is missing.' },
  payload_too_large: {
    status: 413,
    when: 'The body is over 64 KiB, or 1 MiB for `/events` and images.',
  },
  uri_too_long: { status: 414, when: 'Path and query are over 8 KiB.' },
  unsupported_media_type: { status: 415, when: 'Neither `application/json` nor `text/plain`.' },
  unsupported_image: {
    status: 415,
    when: 'The file is not a PNG, JPEG, GIF or WebP image of at most 4,096 pixels on each side.',
  },
  validation_failed: {
    status: 422,
    when: 'The request does not have the expected shape. See `details`.',
    fields: {
      details: { type: 'array', items: { $ref: '#/components/schemas/Problem' } },
    },
  },
  rate_limited: {
    status: 429,
    when: 'The organisation has reached the limit of the bucket.',
    sentence: 'Rate limit exceeded',
    header: 'Retry-After',
    fields: {
      retryAfter: { type: 'integer', minimum: 1, description: 'Seconds, as in `Retry-After`.' },
    },
  },
  internal: { status: 500, when: 'The server failed. Its log has the reason by `X-Request-Id`.' },
  overloaded: {
    status: 503,
    when: 'The disk is too slow or cannot be written to. Nothing was stored.',
    header: 'Retry-After',
  },
  no_room: { status: 507, when: "The server's disk is too full for this. Nothing has changed." },
  // It is unknown whether what was sent is stored. The connection is closed, because any response would
  // claim one or the other.
  in_doubt: { status: 500 },
  // The caller has gone. 499 is not in any standard; it is known from nginx's logs.
  caller_gone: { status: 499 },
} as const satisfies Readonly<Record<string, ErrorEntry>>

export type ErrorCode = keyof typeof errors

export const errorEntry = (code: ErrorCode): ErrorEntry => errors[code]

/** Codes that callers receive; the others are only logged. */
export type PublicErrorCode = {
  [Code in ErrorCode]: (typeof errors)[Code] extends { when: string } ? Code : never
}[ErrorCode]

/**
 * An error for the caller: `message` is for the caller, `cause` for the log alone.
 * Thrown for what a service does not expect; expected outcomes are values.
 */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly details: readonly Problem[] | undefined
  readonly retryAfterSeconds: number | undefined
  /** More fields of the response, by name. */
  readonly fields: Readonly<Record<string, unknown>> | undefined

  constructor(
    readonly code: ErrorCode,
    message: string,
    extra: {
      cause?: unknown
      details?: readonly Problem[]
      retryAfterSeconds?: number
      fields?: Readonly<Record<string, unknown>>
    } = {},
  ) {
    super(message, { cause: extra.cause })
    this.details = extra.details
    this.retryAfterSeconds = extra.retryAfterSeconds
    this.fields = extra.fields
  }
}

/** Why a credential was rejected. Only for those who run the server, never for the caller. */
export const unauthorizedCauses = [
  'no_credential',
  'malformed_header',
  'malformed_key',
  'unknown_key',
  'retired_key',
  'token_where_key_is_due',
  'key_where_token_is_due',
  'malformed_management_token',
  'unknown_management_token',
  'revoked_management_token',
  'expired_management_token',
  'foreign_page',
  'no_session',
  'ended_session',
  'wrong_cookie',
  'unknown_link',
  'unknown_author_ticket',
  'unknown_author_token',
  'unknown_preview',
  'token_too_long',
  'token_malformed',
  'token_bad_algorithm',
  'token_unknown_key',
  'token_ambiguous_key',
  'token_bad_signature',
  'token_wrong_issuer',
  'token_wrong_audience',
  'token_wrong_type',
  'token_not_yet_valid',
  'token_without_exp',
  'token_expired',
  'token_without_organisation',
  'unknown_organisation',
  'foreign_flow',
  'foreign_step',
  'foreign_events',
  'wrong_user_hash',
  'missing_user_hash',
] as const

export type UnauthorizedCause = (typeof unauthorizedCauses)[number]

/** The same response for every failure of a credential, so that the caller cannot learn which one it was. */
export const unauthorized = (cause: UnauthorizedCause) =>
  new AppError('unauthorized', 'Unauthorized', { cause })

/** The cause that `unauthorized` was given; undefined for every other error. */
export const unauthorizedCauseOf = ({ cause }: AppError): UnauthorizedCause | undefined =>
  unauthorizedCauses.find(known => known === cause)

/**
 * There is nothing by that name, or nothing that callers may see.
 *
 * @param keys those that are missing, if any were named
 */
export function flowNotFound(...keys: string[]): AppError {
  const named = keys.slice(0, maxProblems).map(key => shown(key))
  if (keys.length > named.length) named.push('…')
  return new AppError(
    'flow_not_found',
    `Flow not found${named.length === 0 ? '' : `: ${named.join(', ')}`}`,
  )
}

/** The caller went away before there was anything to respond to. */
export const callerGone = (cause: unknown) =>
  new AppError('caller_gone', 'The caller closed the connection', { cause })

/** A 422 that names each fault. */
export const invalid = (...details: Problem[]) =>
  new AppError('validation_failed', 'The request does not have the expected shape', { details })
