import { type Bucket, buckets } from '../core/buckets.ts'
import type { FlowEntry, Organisation } from '../core/catalogue.ts'
import type { Clock } from '../core/clock.ts'
import { AppError, flowNotFound, unauthorized } from '../core/errors.ts'
import { isSnippetKey } from '../core/ids.ts'
import type { Stores } from '../core/ports.ts'
import type { WindowTable } from '../core/window-table.ts'
import type { Call } from './call.ts'
import { type Route, takesKeyInQuery } from './route.ts'
import type { SessionTokens } from './session-tokens.ts'
import { targetOf } from './target.ts'

/** What the gate asks of the rest of the house. */
export interface GateDeps {
  clock: Clock
  windows: WindowTable
  tokens: SessionTokens
  stores: Stores
}

/**
 * The credential of a request: a header that is present decides alone, right or wrong.
 *
 * @throws AppError `unauthorized`
 */
function credentialOf(request: Request, route: Route): string {
  const header = request.headers.get('authorization')
  if (header !== null) {
    const [, credential] = /^bearer +(\S+)$/i.exec(header) ?? []
    if (credential === undefined) throw unauthorized('malformed_header')
    return credential
  }
  if (!takesKeyInQuery(route)) throw unauthorized('no_credential')
  const [key, second] = targetOf(request).query.getAll('key')
  if (key === undefined) throw unauthorized('no_credential')
  // Two keys are no key: which of them was meant cannot be known.
  if (second !== undefined) throw unauthorized('malformed_key')
  return key
}

const isLikeToken = (credential: string) => credential.split('.', 4).length === 3

/** @throws AppError `unauthorized` */
function organisationOfKey(key: string, call: Call, { stores }: GateDeps): Organisation {
  if (!isSnippetKey(key)) {
    throw unauthorized(isLikeToken(key) ? 'token_where_key_is_due' : 'malformed_key')
  }
  const catalogue = stores.catalogue()
  const rotated = catalogue.organisationByOldKey(key)
  if (rotated) stores.presence.mark(rotated.row, 'old_key_used', call.receivedAt)
  const organisation = catalogue.organisationByKey(key, call.receivedAt)
  if (organisation) return organisation
  throw unauthorized(rotated ? 'retired_key' : 'unknown_key')
}

/** @throws AppError `unauthorized` */
async function organisationOfToken(token: string, deps: GateDeps): Promise<Organisation> {
  const name = await deps.tokens.organisationOf(token)
  if (name === null) {
    throw unauthorized(isSnippetKey(token) ? 'key_where_token_is_due' : 'bad_token')
  }
  const organisation = deps.stores.catalogue().organisationByName(name)
  if (!organisation) throw unauthorized('unknown_organisation')
  return organisation
}

async function organisationOf(call: Call, route: Route, deps: GateDeps): Promise<Organisation> {
  const credential = credentialOf(call.request, route)
  return route.caller === 'snippet key'
    ? organisationOfKey(credential, call, deps)
    : organisationOfToken(credential, deps)
}

function count(call: Call, bucket: Bucket, deps: GateDeps): void {
  const { row, limits } = call.org
  const now = deps.clock.monotonic()
  call.taken = deps.windows.take(row, buckets.indexOf(bucket), limits[bucket], now)
  if (call.taken.admitted) return
  // Nobody waits for it, as below: it only feeds the install findings.
  deps.stores.presence.recordLimited(row, bucket, call.receivedAt).catch(() => {})
  const retryAfterSeconds = Math.max(1, Math.ceil(call.taken.resetInMs / 1000))
  throw new AppError('rate_limited', 'Rate limit exceeded', { retryAfterSeconds })
}

function checkOrigin(call: Call, deps: GateDeps): void {
  const { origins, row } = call.org
  const origin = call.request.headers.get('origin')
  if (origins === null || origin === null || origins.has(origin)) return
  // Nobody waits for the count: it only feeds the install findings.
  deps.stores.presence.recordRefusedOrigin(row, call.receivedAt).catch(() => {})
  throw new AppError('origin_not_allowed', "This origin is not one of the organisation's")
}

function flowOf(call: Call, id: string, subject: string, deps: GateDeps): FlowEntry {
  const flow = deps.stores.catalogue().flow(id)
  if (flow && flow.organisation.row !== call.org.row) throw unauthorized('foreign_flow')
  const isSeen =
    subject === 'any flow' ||
    (subject === 'published flow' ? flow?.status === 'published' : flow?.latest)
  if (!flow || !isSeen) throw flowNotFound()
  return flow
}

/**
 * Everything before the body, in the order that callers rely on: credential (401), limit (429),
 * origin (403), the path's id (401, 404). What it finds is noted in the call.
 */
export async function passGate(
  call: Call,
  route: Route,
  params: Readonly<Record<string, string>>,
  deps: GateDeps,
): Promise<void> {
  if (route.caller === 'anyone') return
  call.organisation = await organisationOf(call, route, deps)
  count(call, route.bucket, deps)
  if (route.caller === 'snippet key') {
    // Asking whether the snippet was seen is not the snippet.
    if (route.bucket !== 'status')
      deps.stores.presence.mark(call.org.row, 'key_used', call.receivedAt)
    checkOrigin(call, deps)
  }
  if (route.subject === 'reported step') {
    const step = deps.stores.catalogue().step(params.step_id ?? '')
    if (step && step.flow.organisation.row !== call.org.row) throw unauthorized('foreign_step')
    if (!step?.isPublished) throw new AppError('step_not_found', 'There is no such step')
    call.subject = step
  } else if (route.subject) {
    call.subject = flowOf(call, params.flow_id ?? '', route.subject, deps)
  }
}
