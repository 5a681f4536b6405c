import { Elysia } from 'elysia'
import type { Clock } from './core/clock.ts'
import { AppError } from './core/errors.ts'
import type { Stores } from './core/ports.ts'
import type { WindowTable } from './core/window-table.ts'
import type { Answered } from './http/answered.ts'
import { Call } from './http/call.ts'
import { type Arrival, Endpoint } from './http/endpoint.ts'
import { Exit } from './http/exit.ts'
import { failure } from './http/failure.ts'
import { preflight } from './http/reply.ts'
import { publicPath, type Route } from './http/route.ts'
import type { SessionTokens } from './http/session-tokens.ts'
import { pathOf } from './http/target.ts'
import { analyticsRoutes } from './modules/analytics/index.ts'
import { checklistRoutes } from './modules/checklists/index.ts'
import { descriptionRoutes } from './modules/description/index.ts'
import { eventRoutes } from './modules/events/index.ts'
import { flowRoutes } from './modules/flows/index.ts'
import { presenceRoutes } from './modules/presence/index.ts'
import { snippetRoutes } from './modules/snippet/index.ts'
import { stepRoutes } from './modules/steps/index.ts'

export type { Answered }

export interface AppDeps {
  clock: Clock
  stores: Stores
  windows: WindowTable
  tokens: SessionTokens
  /** Days that raw events are kept for, and so accepted for; may change while it serves. */
  retentionDays: number
  /** A file that an older release has served under its hash, or null. */
  olderSnippetFile(name: string): Promise<string | null>
  onAnswer(answered: Answered): void
  /** An answer that had begun, and was told as such, broke off: a download whose reading failed. */
  onBroken(answered: Answered): void
}

/** How long a download may stand still before it is given up; others have Bun's ten seconds. */
const longIdleSeconds = 240

/** Every route of the public port. */
export function routesOf(deps: AppDeps): Route[] {
  const { stores, clock } = deps
  const routes = [
    ...flowRoutes({ stores }),
    ...checklistRoutes(deps),
    ...eventRoutes(deps),
    ...stepRoutes({ stores, clock }),
    ...presenceRoutes({ stores, clock }),
    ...analyticsRoutes({ stores, clock }),
  ]
  // The description describes itself too.
  routes.push(...descriptionRoutes(routes))
  return [...routes, ...snippetRoutes(deps)]
}

/** Finds the routes of a path that none of them took as it was asked, for 405 and preflight. */
function pathTable(routes: ReadonlyMap<string, readonly Route[]>) {
  const table = [...routes].map(([path, ofPath]) => ({
    matches: new RegExp(`^${path.split(/:\w+/).map(RegExp.escape).join('[^/]+')}/?$`),
    routes: ofPath,
  }))
  return (path: string) => table.find(({ matches }) => matches.test(path))?.routes ?? []
}

/** The body is read behind the gate, by the endpoint. */
const hooks = { parse: 'none' } as const

/**
 * The HTTP API. Opens nothing: all that it needs is handed in.
 *
 * The order of a request: a preflight is answered; the route (404, 405); then its endpoint. No hook
 * of Elysia's runs before a route: one would make it build a second URL, and wait, for each request.
 */
export function createApp(deps: AppDeps) {
  const routes = routesOf(deps)
  const byPath = Map.groupBy(routes, publicPath)
  const routesAt = pathTable(byPath)
  const exit = new Exit(deps)

  const callOf = (request: Request, route: Route | null) =>
    new Call(request, route, deps.clock.now(), deps.clock.monotonic())

  /** The limit that is shown is that of the method asked about. */
  const answerPreflight = (request: Request, known: readonly Route[]): Response => {
    const asked = request.headers.get('access-control-request-method')
    const route = known.find(({ method }) => method === asked) ?? known[0] ?? null
    return exit.answer(callOf(request, route), preflight)
  }

  /** A path that is none (404), or a method that it does not take (405). */
  const noRoute = (request: Request): Response => {
    const known = routesAt(pathOf(request))
    if (request.method === 'OPTIONS') return answerPreflight(request, known)
    const call = callOf(request, known[0] ?? null)
    if (known.length === 0) {
      return exit.refuse(call, new AppError('not_found', 'There is nothing at this path'))
    }
    const methods = known.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    const refusal = new AppError('method_not_allowed', `This path takes ${methods.join(', ')}`)
    const reply = failure(refusal)
    const headers = { ...reply.headers, Allow: [...methods, 'OPTIONS'].join(', ') }
    return exit.refuseWith(call, refusal, { ...reply, headers })
  }

  const app = new Elysia({ normalize: false }).onError(({ code, error, request }) =>
    code === 'NOT_FOUND' ? noRoute(request) : exit.refuse(callOf(request, null), error),
  )

  /**
   * Bound, so that there is no source text: Elysia would read it to guess what a handler needs, and
   * take it for one that has to be awaited because it has a call behind a `return`.
   */
  const register = (method: string, path: string, handle: (arrival: Arrival) => unknown) =>
    app.route(method, path, handle.bind(null) as never, hooks)

  const keepOpen = (request: Request) => app.server?.timeout(request, longIdleSeconds)
  for (const [path, ofPath] of byPath) {
    for (const route of ofPath) {
      const endpoint = new Endpoint(route, { ...deps, exit, keepOpen })
      const handle = (arrival: Arrival) => endpoint.handle(arrival)
      register(route.method, path, handle)
      if (route.method === 'GET') register('HEAD', path, handle)
    }
    register('OPTIONS', path, ({ request }) => answerPreflight(request, ofPath))
  }
  return app
}
