import { type Context, Elysia } from 'elysia'
import type { Clock } from './core/clock.ts'
import {
  AppError,
  type ErrorCode,
  type UnauthorizedCause,
  unauthorizedCauseOf,
} from './core/errors.ts'
import type { Stores } from './core/ports.ts'
import type { WindowTable } from './core/window-table.ts'
import { readJson } from './http/body.ts'
import { Call } from './http/call.ts'
import { requireShape, shapeOf } from './http/checked.ts'
import { failure, refusalOf } from './http/failure.ts'
import { passGate } from './http/gate.ts'
import { readQuery } from './http/query.ts'
import { preflight, type Reply, response } from './http/reply.ts'
import { apiPrefix, defaultBodyLimitBytes, type Route } from './http/route.ts'
import type { SessionTokens } from './http/session-tokens.ts'
import { pathOf } from './http/target.ts'
import { analyticsRoutes } from './modules/analytics/index.ts'
import { checklistRoutes } from './modules/checklists/index.ts'
import { descriptionRoutes } from './modules/description/index.ts'
import { eventRoutes } from './modules/events/index.ts'
import { flowRoutes } from './modules/flows/index.ts'
import { presenceRoutes } from './modules/presence/index.ts'
import { stepRoutes } from './modules/steps/index.ts'

/** What is told of every answer, for the log and the metrics. */
export interface Answered {
  requestId: string
  method: string
  /** The route's pattern, never the path: a path may hold ids. Null where there is no route. */
  route: string | null
  organisation: string | null
  status: number
  durationMs: number
  /** Why it was refused. */
  code?: ErrorCode
  /** Why it was a 401, which the caller is not told. */
  cause?: UnauthorizedCause | undefined
  /** The whole reason of a 500 or 503. */
  error?: unknown
}

export interface AppDeps {
  clock: Clock
  stores: Stores
  windows: WindowTable
  tokens: SessionTokens
  /** Days that raw events are kept for, and so accepted for; may change while it serves. */
  retentionDays: number
  onAnswer(answered: Answered): void
  /** An answer that had begun, and was told as such, broke off: a download whose reading failed. */
  onBroken(answered: Answered): void
}

/** How long a download may stand still before it is given up; others have Bun's ten seconds. */
const longIdleSeconds = 240

/** Every route of the API. */
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
  return routes
}

/** Elysia's context, with the call that `onRequest` puts into it. */
type CallContext = Context & { call: Call }

/** The shapes of a route's body and query, compiled once. */
const checksOf = ({ body, query }: Route) => ({
  body: body && shapeOf(body),
  query: query && shapeOf(query),
  queryNames: Object.keys(query?.properties ?? {}),
})

type Checks = ReturnType<typeof checksOf>

function takeQuery(call: Call, checks: Checks): undefined {
  if (!checks.query) return
  const query = readQuery(call.request, checks.queryNames)
  requireShape(checks.query, query)
  call.query = query
}

async function takeBody(call: Call, route: Route, checks: Checks): Promise<void> {
  const body = await readJson(call.request, route.bodyLimitBytes ?? defaultBodyLimitBytes)
  requireShape(checks.body as NonNullable<Checks['body']>, body)
  call.body = body
  takeQuery(call, checks)
}

/** Reads what the route asks for into the call, or refuses it (413, 415, 400, 422). */
const readCall = (call: Call, route: Route, checks: Checks): Promise<void> | undefined =>
  checks.body ? takeBody(call, route, checks) : takeQuery(call, checks)

/** Finds the methods of a path among the routes, for 405, preflight and the limit that is shown. */
function pathTable(routes: readonly Route[]) {
  const patterns = Map.groupBy(routes, route => route.path)
  const table = [...patterns].map(([path, ofPath]) => ({
    matches: new RegExp(`^${apiPrefix}${path.split(/:\w+/).map(RegExp.escape).join('[^/]+')}/?$`),
    routes: ofPath,
  }))
  return (path: string) => table.find(({ matches }) => matches.test(path))?.routes ?? []
}

/**
 * The HTTP API. Opens nothing: all that it needs is handed in.
 *
 * The order of a request: a preflight is answered; the route (404, 405); the gate (401, 429, 403,
 * the path's id); the body (413, 415, 400); the shape (422); the module's verb. Every answer,
 * good or bad, leaves by `answer`.
 */
export function createApp(deps: AppDeps) {
  const routes = routesOf(deps)
  const routesAt = pathTable(routes)

  const told = (
    call: Call,
    status: number,
    more: Pick<Answered, 'code' | 'cause' | 'error'>,
  ): Answered => ({
    requestId: call.requestId,
    method: call.request.method,
    route: call.route?.path ?? null,
    organisation: call.organisation?.id ?? null,
    status,
    durationMs: deps.clock.monotonic() - call.startedAt,
    ...more,
  })

  const answer = (call: Call, reply: Reply, refusal?: AppError): Response => {
    const why = refusal && { code: refusal.code, cause: unauthorizedCauseOf(refusal) }
    const error = reply.status >= 500 && refusal && { error: refusal.cause ?? refusal }
    deps.onAnswer(told(call, reply.status, { ...why, ...error }))
    return response(call, reply)
  }

  /** A path that is none (404), or a method that it does not take (405). */
  const noRoute = (call: Call): Response => {
    const known = routesAt(pathOf(call.request))
    if (known.length === 0) {
      const refusal = new AppError('not_found', 'There is nothing at this path')
      return answer(call, failure(refusal), refusal)
    }
    call.route = known[0] ?? null
    const methods = known.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    const refusal = new AppError('method_not_allowed', `This path takes ${methods.join(', ')}`)
    const reply = failure(refusal)
    const headers = { ...reply.headers, Allow: [...methods, 'OPTIONS'].join(', ') }
    return answer(call, { ...reply, headers }, refusal)
  }

  const app = new Elysia({ prefix: apiPrefix, normalize: false })
    .onError(context => {
      const { call } = context as unknown as CallContext
      if (context.code === 'NOT_FOUND') return noRoute(call)
      const refusal = refusalOf(context.error)
      return answer(call, failure(refusal), refusal)
    })
    .onRequest(context => {
      const { request } = context
      const call = new Call(request, deps.clock.now(), deps.clock.monotonic())
      ;(context as CallContext).call = call
      if (request.method !== 'OPTIONS') return
      const known = routesAt(pathOf(request))
      const asked = request.headers.get('access-control-request-method')
      call.route = known.find(({ method }) => method === asked) ?? known[0] ?? null
      return answer(call, preflight)
    })

  for (const route of routes) {
    const checks = checksOf(route)
    const handle = async (context: CallContext): Promise<Response> => {
      const { call } = context
      call.route = route
      call.onBroken = error => deps.onBroken(told(call, 500, { error }))
      // Awaited only where there is something to wait for: most requests need not give way.
      const passing = passGate(call, route, context.params, deps)
      if (passing) await passing
      const reading = readCall(call, route, checks)
      if (reading) await reading
      if (route.isLong) context.server?.timeout(context.request, longIdleSeconds)
      const reply = route.handle(call as never)
      return answer(call, reply instanceof Promise ? await reply : reply)
    }
    // The body is read by `readCall`, behind the gate.
    const hooks = { parse: 'none' } as const
    app.route(route.method, route.path, handle as never, hooks)
    if (route.method === 'GET') app.route('HEAD', route.path, handle as never, hooks)
  }
  return app
}
