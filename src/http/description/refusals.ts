import type { TSchema } from '@sinclair/typebox'
import { type ErrorCode, personErased } from '../../core/errors.ts'
import { statuses } from '../failure.ts'
import type { Route } from '../route.ts'
import { type HeaderName, headersWith } from './headers.ts'
import type { JsonSchema } from './json-schema.ts'

/** The codes that a caller can meet. */
type Code = Exclude<ErrorCode, 'caller_gone'>

/** A refusal as the description tells it. */
interface Refusal {
  when: string
  /** The sentence of its body, as an example. */
  says: string
  header?: HeaderName
  /** What its body has in place of a `code`, or beside it; with an example. */
  body?: { schema: JsonSchema; example: object }
}

const refusals: Record<Code, Refusal> = {
  malformed_json: {
    when: 'The body is not JSON.',
    says: 'The body is not JSON',
  },
  unauthorized: {
    when:
      'The one answer to every failure of a credential: none was sent, or it is unknown, retired, ' +
      'expired, of the wrong sort, or of another organisation than what the path names; or identities ' +
      'are verified, and the `userHash` of the `userId` is wrong or missing.',
    says: 'Unauthorized',
    header: 'WWW-Authenticate',
    body: {
      schema: {
        type: 'object',
        required: ['error'],
        properties: { error: { type: 'string', const: 'Unauthorized' } },
      },
      example: {},
    },
  },
  origin_not_allowed: {
    when: "The request has an `Origin`, and the organisation's list of origins does not.",
    says: "This origin is not one of the organisation's",
  },
  not_found: {
    when: 'There is nothing at this path.',
    says: 'There is nothing at this path',
  },
  flow_not_found: {
    when: 'There is no flow with this id; for snippet keys, none that is published.',
    says: 'There is no such flow',
  },
  step_not_found: {
    when: 'There is no step with this id that was ever published.',
    says: 'There is no such step',
  },
  method_not_allowed: {
    when: 'The path is known, and does not take this method; `Allow` has those that it takes.',
    says: 'This path takes GET, HEAD',
  },
  payload_too_large: {
    when: 'The body is over 1 MiB for `/events`, over 64 KiB elsewhere.',
    says: 'The body is larger than 65536 bytes',
  },
  unsupported_media_type: {
    when: 'The body is sent as neither `application/json` nor `text/plain`.',
    says: 'Send the body as application/json or text/plain',
  },
  validation_failed: {
    when: 'What was sent does not have the expected shape; `details` says where.',
    says: 'The request does not have the expected shape',
    body: {
      schema: { $ref: '#/components/schemas/ValidationError' },
      example: {
        code: 'validation_failed',
        details: [{ path: '/userId', message: 'Name a userId or an anonymousId' }],
      },
    },
  },
  erased: {
    when: "The operator has erased this person's data, and nothing more is taken of them.",
    says: personErased().message,
  },
  rate_limited: {
    when: "The organisation has spent this minute's requests of the bucket.",
    says: 'Rate limit exceeded',
    header: 'Retry-After',
    body: {
      schema: {
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
      example: { retryAfter: 42 },
    },
  },
  internal: {
    when: "A fault of the server's. Its log says more under the same `X-Request-Id`.",
    says: 'Something went wrong on the server',
  },
  overloaded: {
    when: 'More is waiting for the disk than the server takes, or the disk refuses. Nothing was kept.',
    says: 'The server has more to write than it can take; try again',
    header: 'Retry-After',
  },
}

const all = Object.entries(refusals) as [Code, Refusal][]

/** `{error, code}`: a sentence for people, a code for programs. */
const usualBody = (code: Code) => ({
  schema: {
    type: 'object',
    required: ['error', 'code'],
    properties: {
      error: { type: 'string', description: 'One sentence for people.' },
      code: { type: 'string', const: code },
    },
  },
  example: { code },
})

/** `flow_not_found` as components are named: `FlowNotFound`. */
const nameOf = (code: Code) =>
  code.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Whether a body is about one person. */
const namesPerson = ({ properties = {} }: TSchema) => 'userId' in properties

/** What routes refuse follows from their data. */
const rules: [applies: (route: Route) => unknown, ...codes: Code[]][] = [
  [({ body }) => body, 'malformed_json', 'payload_too_large', 'unsupported_media_type'],
  [({ caller }) => caller !== 'anyone', 'unauthorized', 'rate_limited'],
  [({ caller }) => caller === 'snippet key', 'origin_not_allowed'],
  [({ subject }) => subject === 'reported step', 'step_not_found'],
  [({ subject }) => subject?.endsWith('flow'), 'flow_not_found'],
  [({ subject, path }) => !subject && path.includes(':'), 'not_found'],
  [({ body, query }) => body ?? query, 'validation_failed'],
  [({ body }) => body && namesPerson(body), 'erased'],
  [({ isWrite, method }) => isWrite || method === 'POST', 'overloaded'],
  [() => true, 'internal'],
]

const codesOf = (route: Route) =>
  rules.flatMap(([applies, ...codes]) => (applies(route) ? codes : []))

/** A route's refusals, by status. */
export const refusalsOf = (route: Route) =>
  Object.fromEntries(
    codesOf(route).map(code => [
      String(statuses[code]),
      { $ref: `#/components/responses/${nameOf(code)}` },
    ]),
  )

/** Every refusal that a route can have, as a component. A wrong method is no route's. */
export const refusalComponents = Object.fromEntries(
  all
    .filter(([code]) => code !== 'method_not_allowed')
    .map(([code, { when, says, header, body = usualBody(code) }]) => [
      nameOf(code),
      {
        description: when,
        headers: headersWith(...(header ? [header] : [])),
        content: {
          'application/json': { schema: body.schema, example: { error: says, ...body.example } },
        },
      },
    ]),
)

/** Every refusal for the introduction; two have bodies of their own, without a code. */
export const refusalRows = all
  .map(([code, { when }]) => ({
    status: statuses[code],
    code: code === 'unauthorized' || code === 'rate_limited' ? null : code,
    when,
  }))
  .sort((a, b) => a.status - b.status)
