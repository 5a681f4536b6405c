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

/** The credential of a request: a header that is present decides alone, right or wrong. */
function credentialOf(request: Request, route: Route): string | null {
  const header = request.headers.get('authorization')
  if (header !== null) return /^bearer +(\S+)$/i.exec(header)?.[1] ?? null
  if (!takesKeyInQuery(route)) return null
  const keys = targetOf(request).query.getAll('key')
  // Two keys are no key: which of them was meant cannot be known.
  return keys.length === 1 ? (keys[0] ?? null) : null
}

async function organisationOf(call: Call, route: Route, deps: GateDeps): Promise<Organisation> {
  const credential = credentialOf(call.request, route)
  if (credential === null) throw unauthorized()
  let organisation: Organisation | null = null
  if (route.caller === 'snippet key') {
    if (isSnippetKey(credential)) {
      organisation = deps.stores.catalogue().organisationByKey(credential, call.receivedAt)
    }
  } else {
    const name = await deps.tokens.organisationOf(credential)
    if (name !== null) organisation = deps.stores.catalogue().organisationByName(name)
  }
  if (!organisation) throw unauthorized()
  return organisation
}

function count(call: Call, bucket: Bucket, deps: GateDeps): void {
  const { row, limits } = call.org
  const now = deps.clock.monotonic()
  call.taken = deps.windows.take(row, buckets.indexOf(bucket), limits[bucket], now)
  if (call.taken.admitted) return
  const retryAfterSeconds = Math.max(1, Math.ceil(call.taken.resetInMs / 1000))
  throw new AppError('rate_limited', 'Rate limit exceeded', { retryAfterSeconds })
}

function checkOrigin(call: Call, deps: GateDeps): void {
  const { origins, row } = call.org
  const origin = call.request.headers.get('origin')
  if (origins === null || origin === null || origins.has(origin)) return
  // Nobody waits for the count: it only feeds the install findings.
  deps.stores.presence.recordRefusal(row, 'origin_not_allowed', call.receivedAt).catch(() => {})
  throw new AppError('origin_not_allowed', 'This origin is not one of the organisation’s')
}

function flowOf(call: Call, id: string, subject: string, deps: GateDeps): FlowEntry {
  const flow = deps.stores.catalogue().flow(id)
  if (flow && flow.organisation.row !== call.org.row) throw unauthorized()
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
    if (step && step.flow.organisation.row !== call.org.row) throw unauthorized()
    if (!step?.isPublished) throw new AppError('step_not_found', 'There is no such step')
    call.subject = step
  } else if (route.subject) {
    call.subject = flowOf(call, params.flow_id ?? '', route.subject, deps)
  }
}
