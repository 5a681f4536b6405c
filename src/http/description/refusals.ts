import type { ErrorCode } from '../../core/errors.ts'
import { statuses } from '../failure.ts'
import type { Route } from '../route.ts'
import { type HeaderName, headersWith } from './headers.ts'
import type { JsonSchema } from './json-schema.ts'

/** A refusal as the description tells it. Which routes refuse what follows from their data alone. */
interface Refusal {
  /** Its name among the components. */
  name: string
  description: string
  body: JsonSchema
  example: unknown
  header?: HeaderName
}

const sentence = { type: 'string', description: 'One sentence for people.' }

/** `{error, code}`, where the sentence is for people and the code for programs. */
const bodyOf = (code: ErrorCode): JsonSchema => ({
  type: 'object',
  required: ['error', 'code'],
  properties: { error: sentence, code: { type: 'string', const: code } },
})

const refusal = (
  code: ErrorCode,
  name: string,
  error: string,
  description: string,
  header?: HeaderName,
): Refusal => ({
  name,
  description,
  body: bodyOf(code),
  example: { error, code },
  ...(header && { header }),
})

type Described = Exclude<ErrorCode, 'caller_gone'>

const refusals: Record<Described, Refusal> = {
  malformed_json: refusal(
    'malformed_json',
    'MalformedJson',
    'The body is not JSON',
    'The body is not JSON.',
  ),
  unauthorized: {
    name: 'Unauthorized',
    description:
      'The one answer to every failure of a credential: none was sent, or it is unknown, retired, ' +
      'expired, of the wrong sort, or of another organisation than what the path names.',
    body: {
      type: 'object',
      required: ['error'],
      properties: { error: { type: 'string', const: 'Unauthorized' } },
    },
    example: { error: 'Unauthorized' },
    header: 'WWW-Authenticate',
  },
  origin_not_allowed: refusal(
    'origin_not_allowed',
    'OriginNotAllowed',
    'This origin is not one of the organisation’s',
    'The request has an `Origin`, and the organisation’s list of origins does not.',
  ),
  not_found: refusal(
    'not_found',
    'NotFound',
    'There is nothing at this path',
    'There is nothing at this path.',
  ),
  flow_not_found: refusal(
    'flow_not_found',
    'FlowNotFound',
    'There is no such flow',
    'No organisation has a flow with this id, or it is not published.',
  ),
  step_not_found: refusal(
    'step_not_found',
    'StepNotFound',
    'There is no such step',
    'No organisation has a step with this id that was ever published.',
  ),
  method_not_allowed: refusal(
    'method_not_allowed',
    'MethodNotAllowed',
    'This path takes GET, HEAD',
    'The path is known, and does not take this method.',
    'Allow',
  ),
  payload_too_large: refusal(
    'payload_too_large',
    'PayloadTooLarge',
    'The body is larger than 65536 bytes',
    'The body is over 1 MiB for `/events`, over 64 KiB elsewhere.',
  ),
  unsupported_media_type: refusal(
    'unsupported_media_type',
    'UnsupportedMediaType',
    'Send the body as application/json or text/plain',
    'The body is sent as neither `application/json` nor `text/plain`.',
  ),
  validation_failed: {
    name: 'ValidationFailed',
    description: 'What was sent does not have the expected shape; `details` says where.',
    body: { $ref: '#/components/schemas/ValidationError' },
    example: {
      error: 'The request does not have the expected shape',
      code: 'validation_failed',
      details: [{ path: '/userId', message: 'Name a userId or an anonymousId' }],
    },
  },
  rate_limited: {
    name: 'RateLimited',
    description: 'The organisation has spent this minute’s requests of the bucket.',
    body: {
      type: 'object',
      required: ['error', 'retryAfter'],
      properties: {
        error: { type: 'string', const: 'Rate limit exceeded' },
        retryAfter: {
          type: 'integer',
          minimum: 1,
          description: 'Seconds, the same as in `Retry-After`.',
        },
      },
    },
    example: { error: 'Rate limit exceeded', retryAfter: 42 },
    header: 'Retry-After',
  },
  internal: refusal(
    'internal',
    'InternalError',
    'Something went wrong on the server',
    'A fault of the server’s. Its log says more under the same `X-Request-Id`.',
  ),
  overloaded: refusal(
    'overloaded',
    'Overloaded',
    'The server has more to write than it can take; try again',
    'More is waiting for the disk than the server takes, or the disk refuses. Nothing was kept.',
    'Retry-After',
  ),
}

const json = (schema: JsonSchema, example: unknown) => ({
  'application/json': { schema, example },
})

/** Every refusal as a component. */
export const refusalComponents = Object.fromEntries(
  Object.values(refusals).map(({ name, description, body, example, header }) => [
    name,
    {
      description,
      headers: headersWith(...(header ? [header] : [])),
      content: json(body, example),
    },
  ]),
)

const codesOf = (route: Route): Described[] => [
  ...(route.caller === 'anyone' ? [] : (['unauthorized', 'rate_limited'] as const)),
  ...(route.caller === 'snippet key' ? (['origin_not_allowed'] as const) : []),
  ...(route.subject
    ? [
        route.subject === 'reported step'
          ? ('step_not_found' as const)
          : ('flow_not_found' as const),
      ]
    : []),
  ...(route.caller === 'anyone' && route.path.includes(':') ? (['not_found'] as const) : []),
  ...(route.body
    ? (['malformed_json', 'payload_too_large', 'unsupported_media_type'] as const)
    : []),
  ...(route.body || route.query ? (['validation_failed'] as const) : []),
  ...(route.isWrite || route.method === 'POST' ? (['overloaded'] as const) : []),
  'internal',
]

/** A route's refusals, by status. */
export function refusalsOf(route: Route) {
  return Object.fromEntries(
    codesOf(route).map(code => [
      String(statuses[code]),
      { $ref: `#/components/responses/${refusals[code].name}` },
    ]),
  )
}

/** Every refusal for the introduction: status, code and meaning. */
export const refusalRows = Object.entries(refusals)
  .map(([code, { description }]) => ({
    status: statuses[code as Described],
    // These two have bodies of their own, without a code.
    code: code === 'unauthorized' || code === 'rate_limited' ? null : code,
    description,
  }))
  .sort((a, b) => a.status - b.status)
