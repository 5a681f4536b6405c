import { Type } from '@sinclair/typebox'
import { AppError, type ErrorCode, mostProblems } from '../core/errors.ts'
import { json, type Reply } from './reply.ts'

const Wrong = Type.Object(
  {
    path: Type.String({ description: 'A JSON pointer; empty for the whole.' }),
    message: Type.String({ description: 'What it must be, in one sentence.' }),
  },
  { title: 'Problem', description: 'One wrong place in what was sent; never the value itself.' },
)

/** The body of a 422. */
export const ValidationError = Type.Object(
  {
    error: Type.String({ description: 'One sentence for people.' }),
    code: Type.Literal('validation_failed'),
    details: Type.Array(Wrong, { minItems: 1, maxItems: mostProblems }),
  },
  { title: 'ValidationError' },
)

/** The one place where a code gets its status. */
export const statuses: Readonly<Record<ErrorCode, number>> = {
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
  method_not_allowed: 405,
  too_many_flows: 409,
  slug_taken: 409,
  too_many_organisations: 409,
  two_secrets_work: 409,
  rewriting_under_way: 409,
  server_running: 409,
  nothing_to_repair: 409,
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
  // Not in any standard; nginx's logs have made it known.
  caller_gone: 499,
}

/** Whatever was thrown, as the refusal that the caller is told. */
export function refusalOf(error: unknown): AppError {
  if (error instanceof AppError) return error
  return new AppError('internal', 'Something went wrong on the server', { cause: error })
}

/** A refusal as an answer. The bodies of 401 and 429 are fixed to the letter. */
export function failure(error: AppError): Reply {
  const status = statuses[error.code]
  if (error.code === 'unauthorized') {
    return json(status, { error: 'Unauthorized' }, { 'WWW-Authenticate': 'Bearer realm="cairn"' })
  }
  const retryAfter = error.retryAfterSeconds
  const headers: Record<string, string> =
    retryAfter === undefined ? {} : { 'Retry-After': `${retryAfter}` }
  if (error.code === 'rate_limited') {
    return json(status, { error: 'Rate limit exceeded', retryAfter }, headers)
  }
  const details = error.details && { details: error.details.slice(0, mostProblems) }
  return json(
    status,
    { error: error.message, code: error.code, ...details, ...error.fields },
    headers,
  )
}
