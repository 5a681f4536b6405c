import { AppError, flowNotFound, unauthorized } from '../../core/errors.ts'
import { type Clock, isoTime } from '../../core/time/clock.ts'
import { DashboardTokens } from '../../http/dashboard-tokens.ts'
import { OwnPages, setCookie } from '../../http/own-pages.ts'
import { actorOf } from '../../http/principal.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { json } from '../../http/responder.ts'
import { managing, type Route, route } from '../../http/route.ts'
import type { SessionTokens } from '../../http/session-tokens.ts'
import type { FlowStore } from '../../storage/interfaces/authoring.ts'
import type {
  DashboardStore,
  SignInFailure,
  SignInProvider,
} from '../../storage/interfaces/dashboard.ts'
import type { GateStores } from '../../storage/interfaces/gate.ts'
import { OpenIdProvider, type ProviderSettings } from './open-id.ts'
import { providerRoutes } from './provider-routes.ts'
import {
  CreatedLink,
  NewLinkBody,
  Redeemed,
  SessionToken,
  SignedIn,
  SignedOutAnswer,
  SignOut,
  Ways,
} from './schema.ts'
import { type Begun, SignIns } from './service.ts'
import { shellRoutes } from './shell.ts'

/** What the dashboard's sign-in needs to know about the server. */
export interface DashboardSettings {
  /** Where browsers reach this server; null if that is not configured. */
  publicUrl: string | null
  /** Cairn's own key, from which the keys of the dashboard are derived. */
  serverKey(): Uint8Array
  /** The OpenID provider for signing in; null if there is none. May change while the server runs. */
  provider(): ProviderSettings | null
  /** Called when somebody could not be signed in; for the log, and without secrets. */
  onFailure(failure: SignInFailure): void
}

/** What the gate needs from the dashboard. */
export const dashboardOf = (
  { publicUrl, serverKey }: Pick<DashboardSettings, 'publicUrl' | 'serverKey'>,
  clock: Clock,
) => ({
  ownPages: new OwnPages(publicUrl),
  tokens: new DashboardTokens(serverKey, clock),
})

const ownPage = {
  tag: 'Management',
  isProductFile: true,
  readers: 'own pages',
} as const

const requested = { ...ownPage, method: 'POST', bodyLimitBytes: 20 * 1024 } as const
const bySession = { caller: 'dashboard session', bucket: 'manage' } as const

const named = ({ id, slug, name }: Begun['organisation']) => ({ id, slug, name })

/** Has the browser delete the session's cookie. */
const cookieTakenAway = { name: 'cairn', value: '', sameSite: 'Strict', maxAgeSeconds: 0 } as const

export interface DashboardDeps {
  /** Null if there is no dashboard. */
  dashboard: DashboardSettings | null
  store: DashboardStore
  stores: Pick<GateStores, 'catalogue'>
  tokens: SessionTokens
  flows: Pick<FlowStore, 'read'>
  /** The API route that returns a flow's numbers as CSV. */
  exportRoute: Route
  /** The API route for the history of its steps' health. */
  historyRoute: Route
  clock: Clock
}

/** Routes for signing in to the dashboard and out of it. */
export function dashboardRoutes(deps: DashboardDeps): Route[] {
  const { dashboard, store, clock } = deps
  if (dashboard === null) return []
  const { ownPages, tokens } = dashboardOf(dashboard, clock)
  const signIns = new SignIns(store, deps.stores, deps.tokens, clock)
  const providerNow = latestProvider(dashboard, clock)

  const sessionCookie = (call: RequestContext, { secret, endsAt }: Begun) =>
    setCookie({
      name: 'cairn',
      value: secret,
      isSecure: ownPages.isSecure(call),
      sameSite: 'Strict',
      maxAgeSeconds: Math.floor((endsAt - clock.now()) / 1_000),
    })

  const sessionOf = ({ principal }: RequestContext) => {
    if (principal?.kind !== 'session') throw new Error('The gate has not been passed')
    return principal.session
  }

  return [
    route({
      ...managing('operator'),
      method: 'POST',
      path: '/manage/dashboard/links',
      operation: 'createDashboardLink',
      summary: 'Make a link that lets somebody into the dashboard, once, within ten minutes',
      body: NewLinkBody,
      errors: ['organisation_not_found'],
      responses: { 201: { description: 'Its code, returned once.', schema: CreatedLink } },
      async handle(call) {
        if (!call.organisation)
          throw new AppError('organisation_not_found', 'Say which organisation')
        const { role, name = `link by ${call.principal!.name}` } = call.body
        // Otherwise a page that is left open could make itself operator for good.
        if (role === 'operator' && call.principal!.kind !== 'operator') {
          throw new AppError(
            'forbidden',
            "A link for the operator can only be made on the server's machine",
          )
        }
        const made = await signIns.createLink(call.org, { role, name }, actorOf(call))
        return json(201, { ...made, expiresAt: isoTime(made.expiresAt) })
      },
    }),
    route({
      ...ownPage,
      method: 'GET',
      caller: 'anyone',
      path: '/dashboard/session/ways',
      operation: 'getWaysToSignIn',
      summary: 'The ways to sign in to the dashboard',
      responses: { 200: { description: 'The ways.', schema: Ways } },
      handle() {
        const issuer = providerNow()?.issuer
        const beginsAt = `${dashboard.publicUrl}/dashboard/sign-in/provider`
        const provider = issuer === undefined ? null : { name: new URL(issuer).hostname, beginsAt }
        return json(200, { provider, link: true, token: true } satisfies Ways)
      },
    }),
    route({
      ...requested,
      caller: 'anyone',
      path: '/dashboard/session/redeem',
      operation: 'signIn',
      summary: "Sign in by a link's code, or by a session token",
      body: Redeemed,
      responses: { 200: { description: 'Signed in.', schema: SignedIn } },
      async handle(call) {
        const { code, token } = call.body
        if ((code === undefined) === (token === undefined)) throw unauthorized('unknown_link')
        const begun =
          code === undefined
            ? await signIns.redeemToken(token!, call.requestId)
            : await signIns.redeemCode(code, call.requestId)
        call.organisation = begun.organisation
        const answer = { organisation: named(begun.organisation) } satisfies SignedIn
        return { ...json(200, answer), cookies: [sessionCookie(call, begun)] }
      },
    }),
    route({
      ...requested,
      ...bySession,
      path: '/dashboard/session/token',
      operation: 'getDashboardToken',
      summary: "A token for the API, beside the session's cookie",
      responses: { 200: { description: 'The token.', schema: SessionToken } },
      async handle(call) {
        const { sha256, role, name, endsAt } = sessionOf(call)
        const organisation = named(call.org)
        const claims = { sha256, role, organisation: organisation.id }
        const { token, expiresAt } = await tokens.issue(claims, endsAt)
        return json(200, {
          token,
          expiresAt: isoTime(expiresAt),
          role,
          person: { name },
          organisation,
          timezone: call.org.timezone,
          theme: call.org.theme,
          endsAt: isoTime(endsAt),
        } satisfies SessionToken)
      },
    }),
    route({
      ...requested,
      ...bySession,
      path: '/dashboard/session/sign-out',
      operation: 'signOut',
      summary: 'Sign out, here or everywhere',
      body: SignOut,
      responses: { 200: { description: 'Signed out.', schema: SignedOutAnswer } },
      async handle(call) {
        const { sha256, issuer } = sessionOf(call)
        await store.endSession(call.org.ref, sha256, call.body.everywhere)
        const provider = providerNow()
        const isTheirs = provider !== null && provider.issuer === issuer
        const goTo = isTheirs ? await provider.signOutAddress() : null
        const answer = { goTo } satisfies SignedOutAnswer
        const isSecure = ownPages.isSecure(call)
        return { ...json(200, answer), cookies: [setCookie({ ...cookieTakenAway, isSecure })] }
      },
    }),
    byCookie(deps, deps.exportRoute, 'export.csv'),
    byCookie(deps, deps.historyRoute, 'health.csv'),
    ...providerRoutes({ ...dashboard, ownPages, signIns, store, providerNow, sessionCookie }),
    ...shellRoutes,
  ]
}

/**
 * A CSV file about a flow, for a link that a browser follows: such a request can carry the cookie, but no
 * token. It changes nothing, and no page of another site can read the answer.
 */
function byCookie({ flows, stores }: DashboardDeps, requested: Route, file: string): Route {
  const { query, responses: answers, isLong, operation, summary } = requested
  const flowOf = async ({ org, params }: RequestContext) => {
    if (params.org !== org.slug && params.org !== org.id) throw unauthorized('foreign_flow')
    const [found] = (await flows.read(org.ref, [params.key ?? ''])).flows
    const flow = found && stores.catalogue().flow(found.id)
    if (!flow) throw flowNotFound()
    return flow
  }
  return {
    ...ownPage,
    ...{ query, responses: answers, isLong, operation: `${operation}ByCookie`, summary },
    caller: 'dashboard session',
    bucket: 'export',
    method: 'GET',
    path: `/dashboard/:org/flows/:key/${file}`,
    async handle(call) {
      call.subject = await flowOf(call)
      const reply = await requested.handle(call)
      const headers = { ...reply.headers, 'Cross-Origin-Resource-Policy': 'same-origin' }
      return { ...reply, headers }
    },
  }
}

/** The provider as it is currently configured. */
function latestProvider(
  { provider, publicUrl, serverKey }: DashboardSettings,
  clock: Clock,
): () => SignInProvider | null {
  let known: { settings: ProviderSettings; provider: SignInProvider } | null = null
  return () => {
    const settings = provider()
    if (settings === null || publicUrl === null) return null
    if (known?.settings !== settings) {
      known = { settings, provider: new OpenIdProvider(settings, publicUrl, serverKey, clock) }
    }
    return known.provider
  }
}
