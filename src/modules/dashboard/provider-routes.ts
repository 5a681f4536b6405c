import { AppError } from '../../core/errors.ts'
import { parametersOf, readForm } from '../../http/input.ts'
import { cookieNamed, type OwnPages, setCookie } from '../../http/own-pages.ts'
import { queryOf, type RequestContext } from '../../http/request-context.ts'
import { json, type Reply } from '../../http/responder.ts'
import { type Route, route } from '../../http/route.ts'
import { type OpenIdProvider, SignInFailure } from './open-id.ts'
import { type NewSignIn, redeemIdentity, type SignInDeps } from './service.ts'
import { transactionSeconds } from './transaction.ts'

export interface ProviderRouteDeps extends SignInDeps {
  publicUrl: string | null
  ownPages: OwnPages
  /** Null if none is configured. */
  providerNow(): OpenIdProvider | null
  sessionCookie(call: RequestContext, signIn: NewSignIn): string
  onFailure(failure: SignInFailure): void
}

/** Routes that browsers and providers are sent to. */
const sentTo = {
  tag: 'Management',
  isProductFile: true,
  readers: 'no page',
  caller: 'anyone',
  responses: { 200: { description: 'Done. A browser is redirected instead (303).' } },
} as const

/** Far more than a logout token needs. */
const maxFormBytes = 20 * 1024
/** Long enough for any page, and short enough for the cookie that holds it. */
const maxPlaceLength = 1_024

const goTo = (location: string, ...cookies: string[]): Reply => ({
  status: 303,
  headers: { Location: location, 'Referrer-Policy': 'no-referrer' },
  cookies,
})

/** Routes for signing in and out with an identity provider. */
export function providerRoutes(deps: ProviderRouteDeps): Route[] {
  const { publicUrl, ownPages, store, onFailure } = deps

  const provider = () => {
    const current = deps.providerNow()
    if (current) return current
    throw new AppError('not_found', 'No identity provider is configured for sign-in')
  }

  const transactionCookie = (call: RequestContext, value: string) =>
    setCookie({
      ...{ name: 'cairn-sign-in', value, sameSite: 'Lax', isSecure: ownPages.isSecure(call) },
      maxAgeSeconds: value === '' ? 0 : transactionSeconds,
    })

  const transactionOf = (call: RequestContext) => {
    const name = `${ownPages.isSecure(call) ? '__Host-' : ''}cairn-sign-in`
    return cookieNamed(call.request.headers.get('cookie') ?? '', name)
  }

  /** Redirects to the sign-in page, which shows what went wrong. */
  const showProblem = (call: RequestContext, error: unknown): Reply => {
    if (!(error instanceof SignInFailure)) throw error
    onFailure(error)
    const location = `${publicUrl}/dashboard/sign-in?problem=${error.problem}`
    return goTo(location, transactionCookie(call, ''))
  }

  return [
    route({
      ...sentTo,
      method: 'GET',
      path: '/dashboard/sign-in/provider',
      operation: 'beginSignIn',
      summary: 'Sign in with the identity provider',
      async handle(call) {
        try {
          const place = placeIn(call, publicUrl ?? '')
          const { location, transaction } = await provider().begin(place)
          return goTo(location, transactionCookie(call, transaction))
        } catch (error) {
          return showProblem(call, error)
        }
      },
    }),
    route({
      ...sentTo,
      method: 'GET',
      path: '/dashboard/sign-in/callback',
      operation: 'finishSignIn',
      summary: 'Finish signing in with the identity provider',
      isWrite: true,
      async handle(call) {
        try {
          const query = queryOf(call.request)
          const { identity, to } = await provider().finish(query, transactionOf(call))
          const signIn = await redeemIdentity(deps, identity, call.requestId)
          call.organisation = signIn.organisation
          return goTo(to, deps.sessionCookie(call, signIn), transactionCookie(call, ''))
        } catch (error) {
          return showProblem(call, error)
        }
      },
    }),
    route({
      ...sentTo,
      method: 'POST',
      path: '/dashboard/sign-in/logout',
      operation: 'signOutByProvider',
      summary: 'Sign out whoever signed out at the identity provider',
      async handle(call) {
        const form = await readForm(call.request, maxFormBytes)
        const signedOut = await provider()
          .signedOutBy(form.get('logout_token') ?? '')
          .catch(() => null)
        if (signedOut === null) return json(400, { error: 'invalid_request' })
        await store.endSessionsOf(signedOut)
        return { status: 200 }
      },
    }),
  ]
}

/** Where the person wants to go. Anything outside the dashboard is replaced by its first page. */
function placeIn({ request }: RequestContext, publicUrl: string): string {
  const base = new URL(`${publicUrl}/dashboard/`)
  const [, to = ''] = parametersOf(request).find(([name]) => name === 'to') ?? []
  const url = to.length > maxPlaceLength ? null : URL.parse(to, base.href)
  const isInside = url?.origin === base.origin && url.pathname.startsWith(base.pathname)
  return isInside ? url.href : base.href
}
