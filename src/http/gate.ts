import { type Bucket, buckets } from '../core/buckets.ts'
import { type FlowEntry, latestVersion, type Organisation } from '../core/catalogue.ts'
import type { Clock } from '../core/clock.ts'
import { AppError, flowNotFound, unauthorized } from '../core/errors.ts'
import { isSnippetKey } from '../core/ids.ts'
import type { Stores } from '../core/ports.ts'
import type { WindowTable } from '../core/window-table.ts'
import type { Call } from './call.ts'
import { parametersOf } from './query.ts'
import { type Route, takesKeyInQuery } from './route.ts'
import type { SessionTokens } from './session-tokens.ts'

/** The path's ids, by name. */
type Params = Readonly<Record<string, string>>

type GuardedRoute = Exclude<Route, { caller: 'anyone' }>

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
  const [sent, second] = parametersOf(request).filter(([name]) => name === 'key')
  if (sent === undefined) throw unauthorized('no_credential')
  // Two keys are no key: which of them was meant cannot be known.
  if (second !== undefined) throw unauthorized('malformed_key')
  return sent[1]
}

const isLikeToken = (credential: string) => credential.split('.', 4).length === 3

/** @throws AppError `unauthorized` */
function organisationOfKey(key: string, call: Call, { stores }: GateDeps): Organisation {
  if (!isSnippetKey(key)) {
    throw unauthorized(isLikeToken(key) ? 'token_where_key_is_due' : 'malformed_key')
  }
  const known = stores.catalogue().snippetKey(key)
  if (!known) throw unauthorized('unknown_key')
  const { organisation, endsAt } = known
  if (endsAt !== null) {
    stores.presence.mark(organisation.row, 'old_key_used', call.receivedAt)
    if (endsAt <= call.receivedAt) throw unauthorized('retired_key')
  }
  return organisation
}

/** @throws AppError `unauthorized` */
async function organisationOfToken(token: string, deps: GateDeps): Promise<Organisation> {
  if (isSnippetKey(token)) throw unauthorized('key_where_token_is_due')
  const name = await deps.tokens.organisationOf(token)
  const organisation = deps.stores.catalogue().organisationByName(name)
  if (!organisation) throw unauthorized('unknown_organisation')
  return organisation
}

/** @param now monotonic milliseconds, not older than a thread may be behind another */
function count(call: Call, bucket: Bucket, now: number, deps: GateDeps): void {
  const { row, limits } = call.org
  call.taken = deps.windows.take(row, buckets.indexOf(bucket), limits[bucket], now)
  if (call.taken.admitted) return
  // Nobody waits for it, as below: it only feeds the install findings.
  deps.stores.presence.recordLimited(row, bucket, call.receivedAt).catch(() => {})
  const retryAfterSeconds = Math.max(1, Math.ceil(call.taken.resetInMs / 1000))
  throw new AppError('rate_limited', 'Rate limit exceeded', { retryAfterSeconds })
}

function checkOrigin(call: Call, deps: GateDeps): void {
  const { origin } = call
  const { origins, row } = call.org
  if (origins === null || origin === null || origins.has(origin)) return
  // Nobody waits for the count: it only feeds the install findings.
  deps.stores.presence.recordRefusedOrigin(row, call.receivedAt).catch(() => {})
  throw new AppError('origin_not_allowed', "This origin is not one of the organisation's")
}

function flowOf(call: Call, id: string, subject: string, deps: GateDeps): FlowEntry {
  const flow = deps.stores.catalogue().flow(id)
  if (flow && flow.organisation.row !== call.org.row) throw unauthorized('foreign_flow')
  if (!flow) throw flowNotFound()
  const isSeen =
    subject === 'any flow' ||
    (subject === 'published flow' ? flow.status === 'published' : latestVersion(flow) !== null)
  if (!isSeen) throw flowNotFound()
  return flow
}

/** What the path names, which must be the organisation's. */
function subjectOf(call: Call, route: Route, params: Params, deps: GateDeps) {
  if (!route.subject) return null
  if (route.subject !== 'reported step') {
    return flowOf(call, params.flow_id ?? '', route.subject, deps)
  }
  const step = deps.stores.catalogue().step(params.step_id ?? '')
  if (step && step.flow.organisation.row !== call.org.row) throw unauthorized('foreign_step')
  if (!step?.isPublished) throw new AppError('step_not_found', 'There is no such step')
  return step
}

/** All but the credential, which was found good. */
function enter(
  organisation: Organisation,
  call: Call,
  route: GuardedRoute,
  params: Params,
  now: number,
  deps: GateDeps,
): void {
  call.organisation = organisation
  count(call, route.bucket, now, deps)
  if (route.caller === 'snippet key') {
    // Asking whether the snippet was seen is not the snippet.
    if (route.bucket !== 'status') {
      deps.stores.presence.mark(organisation.row, 'key_used', call.receivedAt)
    }
    checkOrigin(call, deps)
  }
  call.subject = subjectOf(call, route, params, deps)
}

/**
 * Everything before the body, in the order that callers rely on: credential (401), limit (429),
 * origin (403), the path's id (401, 404). What it finds is noted in the call.
 *
 * @returns a promise only where there is something to wait for, which for a snippet key is nothing:
 *   a turn of the event loop would cost as much as the rest
 * @throws AppError
 */
export function passGate(
  call: Call,
  route: Route,
  params: Params,
  deps: GateDeps,
): Promise<void> | undefined {
  if (route.caller === 'anyone') return
  const credential = credentialOf(call.request, route)
  if (route.caller === 'snippet key') {
    const organisation = organisationOfKey(credential, call, deps)
    enter(organisation, call, route, params, call.startedAt, deps)
    return
  }
  return organisationOfToken(credential, deps).then(organisation =>
    enter(organisation, call, route, params, deps.clock.monotonic(), deps),
  )
}
