import { AppError, flowNotFound, unauthorized } from '../../core/errors.ts'
import { type Clock, isoTime } from '../../core/time/clock.ts'
import { DashboardTokens } from '../../http/dashboard-tokens.ts'
import { auditOf, management } from '../../http/management.ts'
import { OwnPages, setCookie } from '../../http/own-pages.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { json } from '../../http/responder.ts'
import { type Route, route } from '../../http/route.ts'
import type { SessionTokens } from '../../http/session-tokens.ts'
import type { FlowStore } from '../../storage/interfaces/authoring.ts'
import type { DashboardStore } from '../../storage/interfaces/dashboard.ts'
import type { GateStores } from '../../storage/interfaces/gate.ts'
import { OpenIdProvider, type ProviderSettings, type SignInFailure } from './open-id.ts'
import { providerRoutes } from './provider-routes.ts'
import {
  CreatedLink,
  GivenName,
  NewLink,
  Redeemed,
  SessionToken,
  SignedIn,
  SignedOut,
  SignInMethods,
  SignOut,
} from './schema.ts'
import { createLink, type NewSignIn, nameMember, redeemCode, redeemToken } from './service.ts'
import { shellRoutes } from './shell.ts'

/** What the dashboard's sign-in needs to know about the server. */
export interface DashboardSettings {
  /** Where browsers reach this server; null if that is not configured. */
  publicUrl: string | null
  /** Cairn's own key, from which the keys of the dashboard are derived. */
  serverKey(): Uint8Array
  /** The OpenID provider for signing in; null if there is none. May change while the server runs. */
  provider(): ProviderSettings | null
  /** Called for each failed sign-in; for the log, and without secrets. */
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

const ownPost = { ...ownPage, method: 'POST', bodyLimitBytes: 20 * 1024 } as const
const bySession = { caller: 'dashboard session', bucket: 'manage' } as const

const named = ({ id, slug, name }: NewSignIn['organisation']) => ({ id, slug, name })

/** Makes the browser delete the session's cookie. */
const deletedCookie = { name: 'cairn', value: '', sameSite: 'Strict', maxAgeSeconds: 0 } as const

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
  const providerNow = currentProvider(dashboard, clock)

  const sessionCookie = (call: RequestContext, { secret, endsAt }: NewSignIn) =>
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
    management('operator').post(
      '/manage/dashboard/links',
      'createDashboardLink',
      'Create a sign-in link to the dashboard that works once, for ten minutes',
      {
        body: NewLink,
        errors: ['organisation_not_found'],
        returns: CreatedLink,
        response: 'The link. Its code is returned only once.',
      },
      call => {
        if (!call.organisation)
          throw new AppError('organisation_not_found', 'Say which organisation')
        // Otherwise a page that is left open could make itself operator for good.
        if (call.body.role === 'operator' && call.principal!.kind !== 'operator') {
          const message = 'Only the operator can create such a link, on the machine of the server'
          throw new AppError('forbidden', message)
        }
        return createLink(store, call.org, call.body, call.principal!, auditOf(call))
      },
    ),
    route({
      ...ownPage,
      method: 'GET',
      caller: 'anyone',
      path: '/dashboard/session/ways',
      operation: 'getWaysToSignIn',
      summary: 'List the ways to sign in to the dashboard',
      responses: { 200: { description: 'The ways.', schema: SignInMethods } },
      handle() {
        const issuer = providerNow()?.issuer
        const beginsAt = `${dashboard.publicUrl}/dashboard/sign-in/provider`
        const provider = issuer === undefined ? null : { name: new URL(issuer).hostname, beginsAt }
        return json(200, { provider, link: true, token: true } satisfies SignInMethods)
      },
    }),
    route({
      ...ownPost,
      caller: 'anyone',
      path: '/dashboard/session/redeem',
      operation: 'signIn',
      summary: 'Sign in with the code of a link or with a session token',
      body: Redeemed,
      responses: { 200: { description: 'Signed in.', schema: SignedIn } },
      async handle(call) {
        const { code, token } = call.body
        if ((code === undefined) === (token === undefined)) throw unauthorized('unknown_link')
        const signIn =
          code === undefined
            ? await redeemToken(deps, token!, call.requestId)
            : await redeemCode(deps, code, call.requestId)
        call.organisation = signIn.organisation
        const body: SignedIn = { organisation: named(signIn.organisation) }
        return { ...json(200, body), cookies: [sessionCookie(call, signIn)] }
      },
    }),
    route({
      ...ownPost,
      ...bySession,
      path: '/dashboard/session/token',
      operation: 'getDashboardToken',
      summary: "Get a token for the API, to use with the session's cookie",
      responses: { 200: { description: 'The token.', schema: SessionToken } },
      async handle(call) {
        const { sha256, memberId, role, name, isNamed, endsAt } = sessionOf(call)
        const organisation = named(call.org)
        const claims = { sha256, role, organisation: organisation.id }
        const { token, expiresAt } = await tokens.issue(claims, endsAt)
        return json(200, {
          token,
          expiresAt: isoTime(expiresAt),
          role,
          person: { id: memberId, name, isNamed },
          organisation,
          timezone: call.org.timezone,
          theme: call.org.theme,
          endsAt: isoTime(endsAt),
        } satisfies SessionToken)
      },
    }),
    route({
      ...ownPost,
      ...bySession,
      path: '/dashboard/session/name',
      operation: 'nameMember',
      summary: 'Give the name of a person who came by a link without one, once',
      body: GivenName,
      responses: { 200: { description: 'Named.', schema: GivenName } },
      async handle(call) {
        const { memberId } = sessionOf(call)
        const { name } = call.body
        await nameMember(store, call.org, memberId, name, auditOf(call))
        return json(200, { name })
      },
    }),
    route({
      ...ownPost,
      ...bySession,
      path: '/dashboard/session/sign-out',
      operation: 'signOut',
      summary: 'Sign out, here or everywhere',
      body: SignOut,
      responses: { 200: { description: 'Signed out.', schema: SignedOut } },
      async handle(call) {
        const { sha256, issuer } = sessionOf(call)
        await store.endSession(call.org.ref, sha256, call.body.everywhere)
        const provider = providerNow()
        const isTheirs = provider !== null && provider.issuer === issuer
        const goTo = isTheirs ? await provider.signOutAddress() : null
        const isSecure = ownPages.isSecure(call)
        const body: SignedOut = { goTo }
        return { ...json(200, body), cookies: [setCookie({ ...deletedCookie, isSecure })] }
      },
    }),
    byCookie(deps, deps.exportRoute, 'export.csv'),
    byCookie(deps, deps.historyRoute, 'health.csv'),
    ...providerRoutes({ ...deps, ...dashboard, ownPages, providerNow, sessionCookie }),
    ...shellRoutes,
  ]
}

/**
 * A CSV file about a flow, for a link that a browser follows: such a request can carry the cookie, but no
 * token. It changes nothing, and no page of another site can read the response.
 */
function byCookie({ flows, stores }: DashboardDeps, original: Route, file: string): Route {
  const { query, responses, isLong, operation, summary } = original
  const flowOf = async ({ org, params }: RequestContext) => {
    if (params.org !== org.slug && params.org !== org.id) throw unauthorized('foreign_flow')
    const [found] = (await flows.read(org.ref, [params.key ?? ''])).flows
    const flow = found && stores.catalogue().flow(found.id)
    if (!flow) throw flowNotFound()
    return flow
  }
  return {
    ...ownPage,
    ...{ query, responses, isLong, operation: `${operation}ByCookie`, summary },
    caller: 'dashboard session',
    bucket: 'export',
    method: 'GET',
    path: `/dashboard/:org/flows/:key/${file}`,
    async handle(call) {
      call.subject = await flowOf(call)
      const reply = await original.handle(call)
      const headers = { ...reply.headers, 'Cross-Origin-Resource-Policy': 'same-origin' }
      return { ...reply, headers }
    },
  }
}

/** The provider as it is currently configured. */
function currentProvider(
  { provider, publicUrl, serverKey }: DashboardSettings,
  clock: Clock,
): () => OpenIdProvider | null {
  let current: { settings: ProviderSettings; provider: OpenIdProvider } | null = null
  return () => {
    const settings = provider()
    if (settings === null || publicUrl === null) return null
    if (current?.settings !== settings) {
      current = { settings, provider: new OpenIdProvider(settings, publicUrl, serverKey, clock) }
    }
    return current.provider
  }
}
