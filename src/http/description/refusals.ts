import { statuses, type ToldCode } from '../../core/errors.ts'
import type { JsonSchema } from '../../core/flow/schema.ts'
import { targetTooLong } from '../request-context.ts'
import type { Route } from '../route.ts'
import { type HeaderName, headersWith } from './headers.ts'

/** The codes that a caller can receive. */
type Code = ToldCode

/** A refusal as the API's description states it. */
interface Refusal {
  when: string
  /** The sentence of its body, as an example. */
  says: string
  header?: HeaderName
  /** Its body, if that is more than `{error, code}`, with an example of the fields besides `error`. */
  body?: { schema: JsonSchema; example: object }
}

/** The schema of a refusal's body. All fields are required except those listed as `missing`. */
const fields = (properties: Record<string, JsonSchema>, ...missing: string[]): JsonSchema => ({
  type: 'object',
  required: Object.keys(properties).filter(name => !missing.includes(name)),
  properties,
})

/** `{error, code}`: a sentence for people, a code for programs. */
const usualFields = (code: string) => ({
  error: { type: 'string', description: 'One sentence for people.' },
  code: { type: 'string', const: code },
})

const refusals: Record<Code, Refusal> = {
  malformed_json: {
    when: 'The body is not JSON, perhaps because it is compressed: `Content-Encoding` is not taken.',
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
      schema: fields({ error: { type: 'string', const: 'Unauthorized' } }),
      example: {},
    },
  },
  origin_not_allowed: {
    when: "The request has an `Origin`, and the organisation's list of origins does not.",
    says: "This origin is not one of the organisation's",
  },
  forbidden: {
    when: 'The credential is good, and may not do this; where a `scope` would do, it is named.',
    says: 'This needs the scope flows:write',
    body: {
      schema: fields(
        {
          ...usualFields('forbidden'),
          scope: { type: 'string', description: 'The scope that would do.' },
        },
        'scope',
      ),
      example: { code: 'forbidden', scope: 'flows:write' },
    },
  },
  organisation_not_found: {
    when: 'The operator named no organisation, or one that is not there.',
    says: 'Say which organisation',
  },
  not_found: {
    when: 'There is nothing at this path.',
    says: 'There is nothing at this path',
  },
  flow_not_found: {
    when: 'There is no flow with this id; for snippet keys, none that is published.',
    says: 'There is no such flow',
  },
  version_not_found: {
    when: 'The flow has no version with this number.',
    says: 'The flow has no version with this number',
  },
  too_many_flows: {
    when: 'The organisation would have more flows that are not archived than it may.',
    says: 'The organisation would have 1001 flows that are not archived, and 1000 are the most: archive some, or leave some out',
  },
  slug_taken: {
    when: 'Another organisation has this slug.',
    says: 'The slug "harbor" is taken: choose another',
  },
  too_many_organisations: {
    when: 'The server has as many organisations as it has room for.',
    says: 'There are already 131072 organisations, the most for one Cairn: start another one with its own data directory',
  },
  two_secrets_work: {
    when: 'The identity secret before the current one still works, and a third there is not.',
    says: 'Two secrets work already, the one before until 2026-11-20T09:30:00.000Z: rotate after that, or without a grace time, which ends both at once',
  },
  precondition_failed: {
    when: 'What you have read was changed since: `etag`, `changedBy` and `changedAt` say to what, by whom and when.',
    says: 'The flow is no longer what you have read',
    body: {
      schema: fields({
        ...usualFields('precondition_failed'),
        etag: {
          type: ['string', 'null'],
          description: 'Of what is there now; null where nothing is.',
        },
        changedBy: { type: ['string', 'null'] },
        changedAt: { type: ['string', 'null'], format: 'date-time' },
      }),
      example: {
        code: 'precondition_failed',
        etag: '"1f0k3q9z2m"',
        changedBy: 'CI (token_4sWq9xLm2VbTn8Rk0c)',
        changedAt: '2026-11-20T09:30:00.000Z',
      },
    },
  },
  precondition_required: {
    when: 'An edit has to say what it was made from.',
    says: 'Say what you have read: its ETag as If-Match, or If-None-Match: * for a new flow',
  },
  step_not_found: {
    when: 'There is no step with this id that was ever published; for authors, none with this key in what they wrote last.',
    says: 'There is no such step',
  },
  person_not_found: {
    when: 'Nothing is stored of this person; or, who is to be allowed was not erased.',
    says: 'Nothing is stored of this person',
  },
  dead_letter_not_found: {
    when: 'There is no dead letter of one of these ids. Nothing was done.',
    says: 'There is no dead letter 17',
  },
  webhook_not_found: {
    when: 'The organisation has no webhook with this id.',
    says: 'There is no such webhook',
  },
  delivery_not_found: {
    when: 'Nothing with this id was sent to this webhook within the last seven days.',
    says: 'There is no such delivery, or it is over a week old',
  },
  too_many_webhooks: {
    when: 'The organisation has as many webhooks as it may have.',
    says: 'There are 10 webhooks already: remove one first',
  },
  too_many_previews: {
    when: 'The organisation has as many links to previews as it may have at a time.',
    says: 'There are 20 links to previews already: end one first',
  },
  sent_too_often: {
    when: 'As many messages as allowed were sent on demand. Nothing was sent or changed; `Retry-After` says when it is possible again.',
    says: 'ann@example.com: an address gets one confirmation an hour at most; try again in 43 minutes',
    header: 'Retry-After',
  },
  cannot_link: {
    when: 'The two organisations cannot be linked: one is linked otherwise already, or they are the same.',
    says: 'An organisation does not try flows for itself',
  },
  rewriting_under_way: {
    when: 'A person is being erased, or analytics are being rebuilt: two of these never go on at once.',
    says: 'A person is being erased, or analytics are being rebuilt: wait for its end and try again',
  },
  server_running: {
    when: 'This is done only where no server runs.',
    says: 'The database is written anew only while no server runs: stop it and try again',
  },
  unsupported_by_database: {
    when: 'It is about the files of one server, and this one is one of several that share a database.',
    says: 'Several servers have this data, and each is compacted on its own: stop it, then run "cairn compact" there',
  },
  nothing_to_repair: {
    when: 'No selector was given, and nothing says by which other one pages would find the element.',
    says: 'Nothing suggests another selector for this step: give one',
  },
  flow_locked: {
    when: 'The flow was pushed from a repository with `lock`, and is changed there alone.',
    says: 'The flow is changed in acme/site alone: change it there, or unlock it',
  },
  no_room: {
    when: 'The disk of the server has no room for what this needs for a while. Nothing has changed.',
    says: 'Compacting needs 2.1 GB for a while, and the disk has 1.4 GB: make room and try again',
  },
  method_not_allowed: {
    when: 'The path is known, and does not take this method; `Allow` has those that it takes.',
    says: 'This path takes GET, HEAD',
  },
  payload_too_large: {
    when: 'The body is over 1 MiB for `/events`, over 64 KiB elsewhere.',
    says: 'The body is larger than 65536 bytes',
  },
  uri_too_long: {
    when: 'Path and query are over 8 KiB, whatever they name.',
    says: targetTooLong().message,
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
  rate_limited: {
    when: "The organisation has spent this minute's requests of the bucket.",
    says: 'Rate limit exceeded',
    header: 'Retry-After',
    body: {
      schema: fields({
        error: { type: 'string', const: 'Rate limit exceeded' },
        retryAfter: {
          type: 'integer',
          minimum: 1,
          description: 'Seconds, the same as in `Retry-After`.',
        },
      }),
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

/** The component name of a code: `flow_not_found` becomes `FlowNotFound`. */
const nameOf = (code: Code) =>
  code.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())

/** The rules by which a route's refusals follow from its data. */
const rules: [applies: (route: Route) => unknown, ...codes: Code[]][] = [
  [({ body }) => body, 'malformed_json', 'payload_too_large', 'unsupported_media_type'],
  [({ caller }) => caller !== 'anyone', 'unauthorized', 'rate_limited'],
  [({ caller }) => caller === 'snippet key', 'origin_not_allowed'],
  [({ caller }) => caller === 'management', 'forbidden'],
  [({ isConditional }) => isConditional, 'precondition_failed', 'precondition_required'],
  [({ subject }) => subject === 'reported step', 'step_not_found'],
  [({ subject }) => subject?.endsWith('flow'), 'flow_not_found'],
  [
    ({ subject, path, caller }) => !subject && caller !== 'management' && path.includes(':'),
    'not_found',
  ],
  [({ body, query, caller }) => body ?? query ?? caller === 'management', 'validation_failed'],
  [({ isWrite, method }) => isWrite || method !== 'GET', 'overloaded'],
  [() => true, 'uri_too_long', 'internal'],
]

const codesOf = (route: Route): Code[] => [
  ...rules.flatMap(([applies, ...codes]) => (applies(route) ? codes : [])),
  ...(route.refuses ?? []),
]

const componentOf = (code: Code) => `#/components/responses/${nameOf(code)}`

/** The answer for one code, or for several that share a status. */
function answerOf(...codes: [Code, ...Code[]]) {
  const [first, ...others] = codes
  const { header, says } = refusals[first]
  const isAlone = others.length === 0
  const schemas = codes.map(code => bodyOf(code).schema)
  return {
    description: codes.map(code => refusals[code].when).join(' '),
    headers: headersWith(...(header && isAlone ? [header] : [])),
    content: {
      'application/json': {
        schema: isAlone ? schemas[0] : { anyOf: schemas },
        example: { error: says, ...bodyOf(first).example },
      },
    },
  }
}

const bodyOf = (code: Code) =>
  refusals[code].body ?? { schema: fields(usualFields(code)), example: { code } }

/** A route's refusals, by status. */
export const refusalsOf = (route: Route) =>
  Object.fromEntries(
    [...Map.groupBy(codesOf(route), code => statuses[code])].map(([status, codes]) => [
      String(status),
      codes.length === 1 ? { $ref: componentOf(codes[0]!) } : answerOf(...(codes as [Code])),
    ]),
  )

/** Always described together with others of the same status, so no route needs them as components. */
const neverAlone: readonly Code[] = [
  'version_not_found',
  'slug_taken',
  'too_many_organisations',
  'nothing_to_repair',
  'unsupported_by_database',
]

/** Every refusal that a route can have, as a component. A wrong method belongs to no route. */
export const refusalComponents = Object.fromEntries(
  all
    .filter(([code]) => code !== 'method_not_allowed' && !neverAlone.includes(code))
    .map(([code]) => [nameOf(code), answerOf(code)]),
)

/** Every refusal for the introduction; two have bodies of their own, without a code. */
export const refusalRows = all
  .map(([code, { when }]) => ({
    status: statuses[code],
    code: code === 'unauthorized' || code === 'rate_limited' ? null : code,
    when,
  }))
  .sort((a, b) => a.status - b.status)
