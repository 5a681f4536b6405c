import { AppError, flowNotFound, unauthorized } from '../core/errors.ts'
import {
  isManagementToken,
  managementTokenHash,
  scopesOfRole,
} from '../core/organisation/access.ts'
import {
  type FlowEntry,
  latestVersion,
  type Organisation,
  type StepEntry,
} from '../core/organisation/catalogue.ts'
import { snippetKeyForm } from '../core/organisation/ids.ts'
import type { Bucket, Limiter } from '../core/organisation/limits.ts'
import { dashboardSecretHash, isStanding } from '../core/organisation/sessions.ts'
import { shown } from '../core/text/wording.ts'
import type { Clock } from '../core/time/clock.ts'
import type {
  GateStores,
  KnownSession,
  KnownSessions,
  KnownTokens,
} from '../storage/interfaces/gate.ts'
import { type DashboardTokens, dashboardTokenPrefix } from './dashboard-tokens.ts'
import { parametersOf } from './input.ts'
import { type OwnPages, ownHeader } from './own-pages.ts'
import { requireScope } from './principal.ts'
import type { RequestContext } from './request-context.ts'
import { type Route, takesKeyInQuery } from './route.ts'
import type { SessionTokens } from './session-tokens.ts'

/** The path's ids, by name. */
type Params = Readonly<Record<string, string>>

const bearer = 'Bearer '

type GuardedRoute = Extract<Route, { caller: 'snippet key' | 'session token' }>

/** What the gate needs from the rest of the server. */
export interface GateDeps {
  clock: Clock
  limiter: Limiter
  tokens: SessionTokens
  stores: GateStores
  managementTokens: KnownTokens
  dashboardSessions: KnownSessions
  /** Null if there is no dashboard. */
  dashboard: { ownPages: OwnPages; tokens: DashboardTokens } | null
  /** Whether a caller without a credential is the operator; true only at the socket in the data directory. */
  isOperatorsDoor?: boolean
}

/**
 * The credential after the scheme and its spaces. Parsed by hand, because a regular expression takes several
 * times as long.
 */
function bearerIn(header: string): string | undefined {
  const scheme = header.slice(0, bearer.length)
  if (scheme !== bearer && scheme.toLowerCase() !== 'bearer ') return
  let at = bearer.length
  while (header[at] === ' ') at++
  const credential = header.slice(at)
  return credential === '' || /\s/.test(credential) ? undefined : credential
}

/**
 * The credential of a request. If the header is present, it alone decides, right or wrong.
 *
 * @throws AppError `unauthorized`
 */
function credentialOf(request: Request, route: Route): string {
  const header = request.headers.get('authorization')
  if (header !== null) {
    const credential = bearerIn(header)
    if (credential === undefined) throw unauthorized('malformed_header')
    return credential
  }
  if (!takesKeyInQuery(route)) throw unauthorized('no_credential')
  const [sent, second] = parametersOf(request).filter(([name]) => name === 'key')
  if (sent === undefined) throw unauthorized('no_credential')
  // Two keys count as none, because the one that was meant cannot be known.
  if (second !== undefined) throw unauthorized('malformed_key')
  return sent[1]
}

const isLikeToken = (credential: string) => credential.split('.', 4).length === 3

/** @throws AppError `unauthorized` */
function organisationOfKey(key: string, call: RequestContext, { stores }: GateDeps): Organisation {
  if (!snippetKeyForm.test(key)) {
    throw unauthorized(isLikeToken(key) ? 'token_where_key_is_due' : 'malformed_key')
  }
  const known = stores.catalogue().snippetKey(key)
  if (!known) throw unauthorized('unknown_key')
  const { organisation, endsAt } = known
  if (endsAt !== null) {
    stores.presence.mark(organisation.ref, 'old_key_used', call.receivedAt)
    if (endsAt <= call.receivedAt) throw unauthorized('retired_key')
  }
  return organisation
}

const isDashboardToken = (credential: string) => credential.startsWith(dashboardTokenPrefix)

/** @throws AppError `unauthorized` */
async function organisationOfToken(
  token: string,
  call: RequestContext,
  deps: GateDeps,
): Promise<Organisation> {
  if (snippetKeyForm.test(token)) throw unauthorized('key_where_token_is_due')
  if (isDashboardToken(token)) return organisationOfDashboard(token, call, deps)
  const name = await deps.tokens.organisationOf(token)
  const organisation = deps.stores.catalogue().organisationByName(name)
  if (!organisation) throw unauthorized('unknown_organisation')
  return organisation
}

/**
 * The session whose cookie was sent, if it is still valid. The cookie alone does not grant access to the API.
 *
 * @throws AppError `unauthorized`
 */
function sessionOf(call: RequestContext, deps: GateDeps): KnownSession {
  const sha256 = dashboardSecretHash(deps.dashboard?.ownPages.cookieOf(call) ?? '')
  const session = sha256 === null ? null : deps.dashboardSessions.find(sha256)
  if (!session) throw unauthorized('no_session')
  if (!isStanding(session, call.receivedAt)) throw unauthorized('ended_session')
  return session
}

/** @throws AppError `unauthorized` */
function enterSession(session: KnownSession, call: RequestContext, deps: GateDeps): Organisation {
  const organisation = deps.stores.catalogue().organisationByName(session.organisation)
  if (!organisation) throw unauthorized('unknown_organisation')
  deps.dashboardSessions.seen(session.sha256, call.receivedAt)
  const { name, role } = session
  call.principal = { kind: 'session', name, scopes: scopesOfRole[role], session }
  return organisation
}

/**
 * Takes the dashboard's token together with its cookie, and only from Cairn's own pages. Each is worth
 * nothing without the other: a page elsewhere can make the browser send the cookie, and could have stolen the
 * token.
 *
 * @throws AppError `unauthorized`
 */
async function organisationOfDashboard(
  token: string,
  call: RequestContext,
  deps: GateDeps,
): Promise<Organisation> {
  if (deps.dashboard === null) throw unauthorized('token_bad_signature')
  const { sha256, organisation } = await deps.dashboard.tokens.verify(token)
  if (!deps.dashboard.ownPages.isOwn(call)) throw unauthorized('foreign_page')
  const session = sessionOf(call, deps)
  if (session.sha256 !== sha256 || session.organisation !== organisation) {
    throw unauthorized('wrong_cookie')
  }
  return enterSession(session, call, deps)
}

type DashboardRoute = Extract<Route, { caller: 'dashboard session' }>

/** Enters a route of the dashboard's own pages by the cookie alone. */
async function enterByCookie(
  call: RequestContext,
  route: DashboardRoute,
  deps: GateDeps,
): Promise<void> {
  call.organisation = enterSession(sessionOf(call, deps), call, deps)
  await count(call, route.bucket, call.startedAt, deps)
}

/** @throws AppError `unauthorized` for a request that none of Cairn's own pages has sent */
function requireOwnPage(call: RequestContext, { dashboard }: GateDeps): void {
  const { headers, method } = call.request
  const isOwn =
    method === 'POST'
      ? dashboard?.ownPages.isOwn(call) && headers.get(ownHeader) === '1'
      : dashboard?.ownPages.isOwnDownload(call)
  if (!isOwn) throw unauthorized('foreign_page')
}

type ManagementRoute = Extract<Route, { caller: 'management' }>

/** The organisation of a management token, or of the dashboard's. @throws AppError `unauthorized` */
async function organisationOfManager(
  token: string,
  call: RequestContext,
  deps: GateDeps,
): Promise<Organisation> {
  if (isDashboardToken(token)) return organisationOfDashboard(token, call, deps)
  if (!isManagementToken(token)) throw unauthorized('malformed_management_token')
  const known = deps.managementTokens.find(managementTokenHash(token))
  if (!known) throw unauthorized('unknown_management_token')
  if (known.revokedAt !== null) throw unauthorized('revoked_management_token')
  if (known.expiresAt <= call.receivedAt) throw unauthorized('expired_management_token')
  const organisation = deps.stores.catalogue().organisationByName(known.organisation)
  if (!organisation) throw unauthorized('unknown_organisation')
  const { id, name, scopes } = known
  deps.managementTokens.used(id, call.receivedAt)
  call.principal = { kind: 'token', id, name, scopes }
  return organisation
}

/**
 * With these the operator says who they are and which organisation they mean: nobody else can reach the
 * socket.
 */
const operatorHeaders = {
  name: 'cairn-operator',
  organisation: 'cairn-organisation',
} as const

/** The operator may enter everywhere, and is not counted. @throws AppError `organisation_not_found` */
function enterAsOperator(call: RequestContext, route: ManagementRoute, deps: GateDeps): void {
  const { headers } = call.request
  const sent = headers.get(operatorHeaders.name)
  call.principal = { kind: 'operator', name: sent === null ? 'operator' : shown(sent) }
  const named = headers.get(operatorHeaders.organisation)
  if (named === null && route.needs === 'operator') return
  call.organisation = deps.stores.catalogue().organisationByName(named ?? '')
  if (call.organisation) return
  throw new AppError(
    'organisation_not_found',
    named === null ? 'Say which organisation' : `Organisation not found: ${shown(named)}`,
  )
}

async function enterAsManager(
  call: RequestContext,
  route: ManagementRoute,
  deps: GateDeps,
): Promise<void> {
  if (deps.isOperatorsDoor && !call.request.headers.has('authorization')) {
    return enterAsOperator(call, route, deps)
  }
  call.organisation = await organisationOfManager(credentialOf(call.request, route), call, deps)
  await count(call, route.bucket, call.startedAt, deps)
  requireScope(call.principal!, route.needs)
}

/**
 * @param now as the limiter takes it
 * @throws AppError `rate_limited`
 */
async function count(
  call: RequestContext,
  bucket: Bucket,
  now: number,
  { limiter, stores }: GateDeps,
): Promise<void> {
  const taken = await limiter.take(call.org, bucket, now)
  call.taken = taken
  if (taken.admitted) return
  // Not awaited, as below, because it only feeds the install findings.
  stores.presence.recordLimited(call.org.ref, bucket, call.receivedAt).catch(() => {})
  const retryAfterSeconds = Math.max(1, Math.ceil(taken.resetInMs / 1000))
  throw new AppError('rate_limited', 'Rate limit exceeded', { retryAfterSeconds })
}

function checkOrigin(call: RequestContext, deps: GateDeps): void {
  const { origin } = call
  const { origins, ref } = call.org
  if (origins === null || origin === null || origins.has(origin)) return
  // Not awaited, because the count only feeds the install findings.
  deps.stores.presence.recordRejectedOrigin(ref, call.receivedAt).catch(() => {})
  throw new AppError('origin_not_allowed', "This origin is not on the organisation's list")
}

/** @throws AppError `unauthorized`, `flow_not_found` */
function visibleFlow(call: RequestContext, subject: string, flow: FlowEntry | null): FlowEntry {
  if (flow && flow.organisation.ref !== call.org.ref) throw unauthorized('foreign_flow')
  if (!flow) throw flowNotFound()
  const isSeen =
    subject === 'any flow' ||
    (subject === 'published flow' ? flow.status === 'published' : latestVersion(flow) !== null)
  if (!isSeen) throw flowNotFound()
  return flow
}

/** @throws AppError `unauthorized`, `step_not_found` */
function visibleStep(call: RequestContext, step: StepEntry | null): StepEntry {
  if (step && step.flow.organisation.ref !== call.org.ref) throw unauthorized('foreign_step')
  if (!step?.isPublished) throw new AppError('step_not_found', 'Step not found')
  return step
}

/** What the path names, which must belong to the organisation. */
function subjectOf(
  call: RequestContext,
  { subject }: Route,
  params: Params,
  deps: GateDeps,
): FlowEntry | StepEntry | null {
  if (!subject) return null
  const catalogue = deps.stores.catalogue()
  return subject === 'reported step'
    ? visibleStep(call, catalogue.step(params.step_id ?? ''))
    : visibleFlow(call, subject, catalogue.flow(params.flow_id ?? ''))
}

/** Everything after the credential, which was found good. */
async function enter(
  organisation: Organisation,
  call: RequestContext,
  route: GuardedRoute,
  params: Params,
  now: number,
  deps: GateDeps,
): Promise<void> {
  call.organisation = organisation
  await count(call, route.bucket, now, deps)
  if (route.caller === 'snippet key') {
    // A caller that asks whether the snippet was seen is not the snippet.
    if (route.bucket !== 'status') {
      deps.stores.presence.mark(organisation.ref, 'key_used', call.receivedAt)
    }
    checkOrigin(call, deps)
  }
  call.subject = subjectOf(call, route, params, deps)
}

/**
 * Checks everything before the body, in the order that callers rely on: credential (401), limit (429), origin
 * (403), the path's id (401, 404). What it finds is stored in the call.
 *
 * @throws AppError
 */
export async function passGate(
  call: RequestContext,
  route: Route,
  params: Params,
  deps: GateDeps,
): Promise<void> {
  if (route.readers === 'own pages') requireOwnPage(call, deps)
  if (route.caller === 'anyone') return
  if (route.caller === 'dashboard session') return enterByCookie(call, route, deps)
  if (route.caller === 'management') return enterAsManager(call, route, deps)
  const credential = credentialOf(call.request, route)
  if (route.caller === 'snippet key') {
    const organisation = organisationOfKey(credential, call, deps)
    return enter(organisation, call, route, params, call.startedAt, deps)
  }
  const organisation = await organisationOfToken(credential, call, deps)
  return enter(organisation, call, route, params, deps.clock.monotonic(), deps)
}
