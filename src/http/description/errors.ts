import { type ErrorEntry, errorEntry, errors, type PublicErrorCode } from '../../core/errors.ts'
import type { JsonSchema } from '../../core/flow/schema.ts'
import type { Route } from '../route.ts'
import { headersWith } from './headers.ts'

type Code = PublicErrorCode

interface PublicEntry extends ErrorEntry {
  when: string
}

/** Every error that a caller can receive, ascending by status. */
export const publicErrors = (Object.entries(errors) as [Code, ErrorEntry][])
  .filter((entry): entry is [Code, PublicEntry] => entry[1].when !== undefined)
  .sort(([, a], [, b]) => a.status - b.status)

/** Which errors a route can return, by its properties. */
const rules: [applies: (route: Route) => unknown, ...codes: Code[]][] = [
  [({ body }) => body, 'malformed_json', 'payload_too_large', 'unsupported_media_type'],
  [({ binaryBody }) => binaryBody, 'payload_too_large'],
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

function bodyOf(code: Code): JsonSchema {
  const { sentence, fields } = errorEntry(code)
  const common =
    sentence === undefined
      ? { error: { type: 'string', description: 'A sentence for people.' }, code: { const: code } }
      : { error: { const: sentence } }
  const required = [...Object.keys(common), ...Object.keys(fields ?? {})]
  return {
    type: 'object',
    // Only some routes have a scope that would be enough.
    required: required.filter(name => name !== 'scope'),
    properties: { ...common, ...fields },
  }
}

/** A response for several errors, which must have one status. */
function responseOf(...codes: Code[]) {
  const [schema, ...others] = codes.map(bodyOf)
  const isOne = others.length === 0
  const { header } = errorEntry(codes[0]!)
  return {
    description: codes.map(code => errorEntry(code).when).join(' '),
    headers: headersWith(...(header && isOne ? [header] : [])),
    content: {
      'application/json': { schema: isOne ? schema : { anyOf: [schema, ...others] } },
    },
  }
}

/** A response for each error. */
export const errorComponents = Object.fromEntries(
  publicErrors.map(([code]) => [code, responseOf(code)]),
)

/** A route's error responses, by status. */
export function errorsOf(route: Route) {
  const codes = [
    ...rules.flatMap(([applies, ...codes]) => (applies(route) ? codes : [])),
    ...(route.errors ?? []),
  ]
  const responses = [...Map.groupBy(codes, code => errorEntry(code).status)].map(
    ([status, ofStatus]) => [
      status,
      ofStatus.length === 1
        ? { $ref: `#/components/responses/${ofStatus[0]}` }
        : responseOf(...ofStatus),
    ],
  )
  return Object.fromEntries(responses)
}
