import { AppError } from '../../core/errors.ts'
import { parametersOf, readForm } from '../../http/input.ts'
import { cookieNamed, type OwnPages, setCookie } from '../../http/own-pages.ts'
import { queryOf, type RequestContext } from '../../http/request-context.ts'
import { json, type Reply } from '../../http/responder.ts'
import { type Route, route } from '../../http/route.ts'
import {
  type DashboardStore,
  SignInFailure,
  type SignInProvider,
} from '../../storage/interfaces/dashboard.ts'
import type { Begun, SignIns } from './service.ts'
import { transactionSeconds } from './transaction.ts'

export interface ProviderRouteDeps {
  publicUrl: string | null
  ownPages: OwnPages
  signIns: SignIns
  store: DashboardStore
  /** Null if there is none at present. */
  providerNow(): SignInProvider | null
  sessionCookie(call: RequestContext, begun: Begun): string
  onFailure(failure: SignInFailure): void
}

/** Routes that browsers and providers are sent to. */
const sentTo = {
  tag: 'Management',
  isProductFile: true,
  readers: 'no page',
  caller: 'anyone',
  responses: { 200: { description: 'Done; mostly it is the way on, though (303).' } },
} as const

/** Far more than a logout token needs. */
const largestForm = 20 * 1024
/** Long enough for any page, and short enough for the cookie that keeps it meanwhile. */
const maxPlaceLength = 1_024

const goTo = (location: string, ...cookies: string[]): Reply => ({
  status: 303,
  headers: { Location: location, 'Referrer-Policy': 'no-referrer' },
  cookies,
})

/** Routes for signing in and out with an identity provider. */
export function providerRoutes(deps: ProviderRouteDeps): Route[] {
  const { publicUrl, ownPages, signIns, store, onFailure } = deps

  const provider = () => {
    const known = deps.providerNow()
    if (known) return known
    throw new AppError('not_found', 'Nobody signs in by an identity provider here')
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
  const sayProblem = (call: RequestContext, error: unknown): Reply => {
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
      summary: 'Go to the identity provider',
      async handle(call) {
        try {
          const place = placeIn(call, publicUrl ?? '')
          const { location, transaction } = await provider().begin(place)
          return goTo(location, transactionCookie(call, transaction))
        } catch (error) {
          return sayProblem(call, error)
        }
      },
    }),
    route({
      ...sentTo,
      method: 'GET',
      path: '/dashboard/sign-in/callback',
      operation: 'finishSignIn',
      summary: 'Come back from the identity provider',
      isWrite: true,
      async handle(call) {
        try {
          const query = queryOf(call.request)
          const { identity, to } = await provider().finish(query, transactionOf(call))
          const begun = await signIns.redeemIdentity(identity, call.requestId)
          call.organisation = begun.organisation
          return goTo(to, deps.sessionCookie(call, begun), transactionCookie(call, ''))
        } catch (error) {
          return sayProblem(call, error)
        }
      },
    }),
    route({
      ...sentTo,
      method: 'POST',
      path: '/dashboard/sign-in/logout',
      operation: 'signOutByProvider',
      summary: 'The identity provider says who has signed out there',
      async handle(call) {
        const form = await readForm(call.request, largestForm)
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

/** Where somebody wants to go. Anything outside the dashboard is replaced by its first page. */
function placeIn({ request }: RequestContext, publicUrl: string): string {
  const base = new URL(`${publicUrl}/dashboard/`)
  const [, to = ''] = parametersOf(request).find(([name]) => name === 'to') ?? []
  const url = to.length > maxPlaceLength ? null : URL.parse(to, base.href)
  const isInside = url?.origin === base.origin && url.pathname.startsWith(base.pathname)
  return isInside ? url.href : base.href
}
