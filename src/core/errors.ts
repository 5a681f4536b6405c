import { shown } from './text/wording.ts'

/** One fault in what a caller sent: a JSON pointer and a sentence, never the caller's value. */
export interface Problem {
  path: string
  message: string
}

/** The most faults that a refusal names. */
export const mostProblems = 20

/** Every reason for which a request can be refused, with its HTTP status. */
export const statuses = {
  malformed_json: 400,
  unauthorized: 401,
  origin_not_allowed: 403,
  forbidden: 403,
  not_found: 404,
  organisation_not_found: 404,
  version_not_found: 404,
  flow_not_found: 404,
  step_not_found: 404,
  person_not_found: 404,
  dead_letter_not_found: 404,
  webhook_not_found: 404,
  delivery_not_found: 404,
  method_not_allowed: 405,
  too_many_flows: 409,
  slug_taken: 409,
  too_many_organisations: 409,
  too_many_webhooks: 409,
  too_many_previews: 409,
  sent_too_often: 409,
  cannot_link: 409,
  two_secrets_work: 409,
  rewriting_under_way: 409,
  nothing_to_repair: 409,
  flow_locked: 409,
  server_running: 409,
  unsupported_by_database: 409,
  precondition_failed: 412,
  precondition_required: 428,
  payload_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  validation_failed: 422,
  rate_limited: 429,
  internal: 500,
  overloaded: 503,
  no_room: 507,
  // It is unknown whether what was sent is stored. Only for the log: the connection is cut, because any
  // answer would claim the one or the other.
  in_doubt: 500,
  // The caller has gone. Only for the log, because nobody reads the answer. 499 is not in any standard; it
  // is known from nginx's logs.
  caller_gone: 499,
} as const

export type ErrorCode = keyof typeof statuses

/** Codes that callers never see. */
export const untold = ['caller_gone', 'in_doubt'] as const satisfies readonly ErrorCode[]

/** Codes that callers may see. */
export type ToldCode = Exclude<ErrorCode, (typeof untold)[number]>

/**
 * A refusal: `message` is for the caller, `cause` for the log alone.
 * Thrown for what a service does not expect; expected outcomes are values.
 */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly details: readonly Problem[] | undefined
  readonly retryAfterSeconds: number | undefined
  /** More fields of the answer, by name. */
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

/** Why a credential was refused. Only for those who run the server, never for the caller. */
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

/** The same answer for every failure of a credential, so that it does not tell which one it was. */
export const unauthorized = (cause: UnauthorizedCause) =>
  new AppError('unauthorized', 'Unauthorized', { cause })

/** The cause that `unauthorized` was given; undefined for every other refusal. */
export const unauthorizedCauseOf = ({ cause }: AppError): UnauthorizedCause | undefined =>
  unauthorizedCauses.find(known => known === cause)

/**
 * There is nothing by that name, or nothing that callers may see.
 *
 * @param keys those that are missing, if any were named
 */
export function flowNotFound(...keys: string[]): AppError {
  const named = keys.slice(0, mostProblems).map(key => shown(key))
  if (keys.length > named.length) named.push('…')
  return new AppError(
    'flow_not_found',
    `There is no such flow${named.length === 0 ? '' : `: ${named.join(', ')}`}`,
  )
}

/** The caller went away before there was anything to answer. */
export const callerGone = (cause: unknown) =>
  new AppError('caller_gone', 'The caller closed the connection', { cause })

/** A 422 that names each fault. */
export const invalid = (...details: Problem[]) =>
  new AppError('validation_failed', 'The request does not have the expected shape', { details })
