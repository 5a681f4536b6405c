import { type Contract, errorSaid, type RouteLine } from './document.ts'
import type { Answer, Sent } from './exchange.ts'
import { settled } from './pattern.ts'
import type { Holder } from './stage.ts'

/** What holds for every answer, whatever its row says. */

const exposed =
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, ETag, X-Request-Id'
const limitWithoutRoute = 300
const jsonType = 'application/json; charset=utf-8'
const linesType = 'application/x-ndjson; charset=utf-8'

const pathOf = ({ target }: Sent) => target.split('?', 1)[0] ?? ''

const matches = (route: RouteLine, path: string) =>
  new RegExp(
    `^${route.path
      .split(/\{\w+\}/)
      .map(RegExp.escape)
      .join('[^/]+')}/?$`,
  ).test(path)

/** The route that a request is for. For a wrong method, the first route of its path. */
export function routeOf(sent: Sent, routes: readonly RouteLine[]): RouteLine | null {
  const requested = sent.headers.find(([name]) => name === 'Access-Control-Request-Method')?.[1]
  const method = { HEAD: 'GET', OPTIONS: requested }[sent.method] ?? sent.method
  const ofPath = routes.filter(route => matches(route, pathOf(sent)))
  return ofPath.find(route => route.method === method) ?? ofPath[0] ?? null
}

/** Answers that belong to no organisation, so that none is counted for them. */
function isNobodys(sent: Sent, { status }: Answer, route: RouteLine | null): boolean {
  return [401, 405, 414].includes(status) || sent.method === 'OPTIONS' || route === null
}

function* limitFaults(sent: Sent, answer: Answer, contract: Contract, holder: Holder | null) {
  const number = (name: string) => {
    const value = answer.headers.get(name) ?? ''
    return /^\d+$/.test(value) ? Number(value) : Number.NaN
  }
  const route = routeOf(sent, contract.routes)
  const routeLimit = route?.limit ?? limitWithoutRoute
  const isUntouched = isNobodys(sent, answer, route)
  const expected = isUntouched ? routeLimit : (holder?.limit ?? routeLimit)
  const limit = number('x-ratelimit-limit')
  if (limit !== expected) yield `X-RateLimit-Limit is ${limit}, not ${expected}`
  const remaining = number('x-ratelimit-remaining')
  const isUnspent = isUntouched || holder?.isUncounted
  const isPlausible = isUnspent ? remaining === limit : remaining >= 0 && remaining < limit
  if (!isPlausible) yield `X-RateLimit-Remaining is ${remaining} of ${limit}`
  const resetIn = number('x-ratelimit-reset') - Date.now() / 1000
  if (!(resetIn > -1 && resetIn <= 61)) yield `X-RateLimit-Reset is ${resetIn} s from now`
}

const requestIds = new Set<string>()

const isManagement = (sent: Sent, { routes }: Contract) =>
  routeOf(sent, routes)?.caller === 'management token'

function* headerFaults(sent: Sent, { headers }: Answer, contract: Contract) {
  const id = headers.get('x-request-id') ?? ''
  if (id === '' || requestIds.has(id)) yield `X-Request-Id "${id}" is empty or not unique`
  requestIds.add(id)
  if (headers.get('x-content-type-options') !== 'nosniff') yield 'X-Content-Type-Options is missing'
  if (!/\bOrigin\b/.test(headers.get('vary') ?? '')) yield 'Vary does not name Origin'
  // No page of another origin may read the answers of management.
  const origin = isManagement(sent, contract)
    ? undefined
    : sent.headers.find(([name]) => name === 'Origin')?.[1]
  const expected = {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': origin === undefined ? undefined : 'true',
    'access-control-expose-headers': origin === undefined ? undefined : exposed,
  }
  for (const [name, value] of Object.entries(expected)) {
    if (headers.get(name) !== value) yield `${name} is ${headers.get(name)}, not ${value}`
  }
}

/** Every text that a caller sent, in the body and in the query, if it is too long to be a word of Cairn's. */
function textsOf(sent: Sent): string[] {
  const texts = [...new URLSearchParams(sent.target.split('?')[1] ?? '').values()]
  const gather = (value: unknown) => {
    if (typeof value === 'string') texts.push(value)
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(gather)
  }
  try {
    gather(JSON.parse(sent.body?.toString() ?? 'null'))
  } catch {
    texts.push(sent.body?.toString() ?? '')
  }
  return texts.filter(text => text.length >= 12)
}

/** The fields that errors of management have besides the usual ones. */
const moreFields: Record<string, string[][]> = {
  forbidden: [[], ['scope']],
  precondition_failed: [['etag', 'changedBy', 'changedAt']],
}

function* errorFaults(sent: Sent, answer: Answer, contract: Contract): Generator<string> {
  const text = answer.body.toString()
  const retryAfter = answer.headers.get('retry-after')
  if (answer.status === 401) {
    if (text !== '{"error":"Unauthorized"}') yield `the body of a 401 is ${text}`
    if (answer.headers.get('www-authenticate') !== 'Bearer realm="cairn"') {
      yield 'WWW-Authenticate is missing'
    }
    return
  }
  if (answer.status === 429) {
    const isWhole = /^[1-9]\d*$/.test(retryAfter ?? '') && Number(retryAfter) <= 60
    if (!isWhole) yield `Retry-After is ${retryAfter}`
    const fixed = `{"error":"Rate limit exceeded","retryAfter":${retryAfter}}`
    if (text !== fixed) yield `the body of a 429 is ${text}, not ${fixed}`
    if (answer.headers.get('x-ratelimit-remaining') !== '0') yield 'X-RateLimit-Remaining is not 0'
    return
  }
  const { error, code, details, ...more } = JSON.parse(text)
  const known = errorSaid(contract, code, isManagement(sent, contract))
  if (known?.status !== answer.status) return yield `${answer.status} with the code ${code}`
  const isEvents = 'results' in more
  const sentence = isEvents ? 'Every event was rejected' : known.sentence
  if (settled(sentence, error) !== error) yield `${code} says "${error}", not "${sentence}"`
  const fields = moreFields[code] ?? [[]]
  if (!isEvents && !fields.some(names => `${names}` === `${Object.keys(more)}`)) {
    yield `an error has ${Object.keys(more)}`
  }
  if (isEvents || code !== 'validation_failed') {
    if (details !== undefined) yield `${code} has details`
    return
  }
  if (!(details?.length >= 1 && details.length <= 20)) yield 'not 1 to 20 details'
  for (const sentText of textsOf(sent)) {
    if (text.includes(sentText)) yield `the caller's value "${sentText}" is told back`
  }
}

function* bodyFaults(sent: Sent, answer: Answer) {
  const { status, headers, body } = answer
  const isBodiless = sent.method === 'HEAD' || status === 204 || status === 304
  if (isBodiless && body.length > 0) yield `a body of ${body.length} bytes where there is none`
  const length = headers.get('content-length')
  if (!isBodiless && length !== undefined && Number(length) !== body.length) {
    yield `Content-Length is ${length}, the body has ${body.length} bytes`
  }
  const type = headers.get('content-type')
  const expected = status === 204 || status === 304 ? undefined : jsonType
  const isOther = type?.startsWith('text/csv') || type?.startsWith('image/') || type === linesType
  if (type !== expected && !isOther) yield `Content-Type is ${type}`
}

/** Everything that is wrong with an answer, whatever was asked, in words. */
export function faultsOf(
  sent: Sent,
  answer: Answer,
  contract: Contract,
  holder: Holder | null,
): string[] {
  const isError = answer.status >= 400 && sent.method !== 'HEAD'
  const isChecked = isManagement(sent, contract) || /[?&](userId|anonymousId)=/.test(sent.target)
  const ofTagged = isChecked ? 'private, no-cache' : 'private, max-age=60'
  const isImage = answer.headers.get('content-type')?.startsWith('image/')
  const untagged = isImage ? 'public, max-age=31536000, immutable' : 'no-store'
  const caching = answer.headers.has('etag') ? ofTagged : untagged
  return [
    ...limitFaults(sent, answer, contract, holder),
    ...headerFaults(sent, answer, contract),
    ...bodyFaults(sent, answer),
    ...(isError ? errorFaults(sent, answer, contract) : []),
    ...(answer.headers.get('cache-control') === caching ? [] : [`Cache-Control is not ${caching}`]),
    ...(answer.headers.get('retry-after') && ![409, 429, 503].includes(answer.status)
      ? ['Retry-After']
      : []),
  ]
}
