import { Elysia } from 'elysia'
import { AppError } from './core/errors.ts'
import type { FlowWork } from './core/flow/work.ts'
import type { Limiter } from './core/organisation/limits.ts'
import type { Clock } from './core/time/clock.ts'
import { Endpoint, type RoutedRequest } from './http/endpoint.ts'
import {
  asksForPage,
  completeUrl,
  hasLongTarget,
  pathOf,
  RequestContext,
  targetTooLong,
} from './http/request-context.ts'
import {
  errorResponse,
  preflight,
  type Reply,
  type RequestSummary,
  Responder,
  type ResponseObserver,
} from './http/responder.ts'
import { publicPath, type Route } from './http/route.ts'
import type { SessionTokens } from './http/session-tokens.ts'
import { accessRoutes } from './modules/access/routes.ts'
import { alertRoutes } from './modules/alerts/routes.ts'
import { dueSender, type Mail, type Outside } from './modules/alerts/sender.ts'
import type { AlertDeps } from './modules/alerts/service.ts'
import type { Sent } from './modules/alerts/standard-webhooks.ts'
import { AlertWatch, checkEveryMs } from './modules/alerts/watch.ts'
import { analyticsRoutes } from './modules/analytics/routes.ts'
import { authoringRoutes } from './modules/authoring/routes.ts'
import { checklistRoutes } from './modules/checklists/routes.ts'
import { type DashboardSettings, dashboardOf, dashboardRoutes } from './modules/dashboard/routes.ts'
import { descriptionRoutes } from './modules/description/routes.ts'
import { environmentRoutes } from './modules/environments/routes.ts'
import { eventRoutes } from './modules/events/routes.ts'
import { flowRoutes } from './modules/flows/routes.ts'
import { imageRoutes } from './modules/images/routes.ts'
import { installationRoutes } from './modules/installation/routes.ts'
import { manualRoutes, missingPage } from './modules/manual/routes.ts'
import { mcpRoutes } from './modules/mcp/routes.ts'
import { memberRoutes } from './modules/members/routes.ts'
import { operationsRoutes } from './modules/operations/routes.ts'
import { organisationRoutes } from './modules/organisations/routes.ts'
import { peopleRoutes } from './modules/people/routes.ts'
import { runRoutes } from './modules/runs/routes.ts'
import { segmentRoutes } from './modules/segments/routes.ts'
import { snippetRoutes } from './modules/snippet/routes.ts'
import { stepRoutes } from './modules/steps/routes.ts'
import { ticketRoutes } from './modules/tickets/routes.ts'
import type { AccessStore } from './storage/interfaces/access.ts'
import type { AlertStore } from './storage/interfaces/alerts.ts'
import type { AnalyticsStores } from './storage/interfaces/analytics.ts'
import type { FlowStore, LookStore } from './storage/interfaces/authoring.ts'
import type { ChecklistStores } from './storage/interfaces/checklists.ts'
import type { DashboardStore } from './storage/interfaces/dashboard.ts'
import type { EnvironmentStore } from './storage/interfaces/environments.ts'
import type { ActivityStore, EventLog, EventStores } from './storage/interfaces/events.ts'
import type { ExplainStore, PublishedFlowStores } from './storage/interfaces/flows.ts'
import type { GateStores, KnownSessions, KnownTokens } from './storage/interfaces/gate.ts'
import type { ImageStore } from './storage/interfaces/images.ts'
import type { InstallationStores, SeenStore } from './storage/interfaces/installation.ts'
import type { MemberStore } from './storage/interfaces/members.ts'
import type { OperationsStore, ServerFigures } from './storage/interfaces/operations.ts'
import type { OrganisationStore } from './storage/interfaces/organisations.ts'
import type { PeopleList, PeopleStore } from './storage/interfaces/people.ts'
import type { RunStore } from './storage/interfaces/runs.ts'
import type { SegmentStore } from './storage/interfaces/segments.ts'
import type { StepEvidenceStore, StepStores } from './storage/interfaces/steps.ts'
import type { TicketStore } from './storage/interfaces/tickets.ts'

export type {
  Mail,
  Outside,
  RequestSummary,
  ResponseObserver as AnswerObserver,
  Sent,
  ServerFigures,
}

/** What the gate and the modules together need from storage. */
export type Stores = GateStores &
  AnalyticsStores &
  ChecklistStores &
  EventStores &
  PublishedFlowStores &
  InstallationStores &
  StepStores

export interface AppDeps {
  clock: Clock
  stores: Stores
  management: ManagementStores
  limiter: Limiter
  /** Does what takes long about flows, while no request waits. */
  flowWork: FlowWork
  tokens: SessionTokens
  /** Null if there is no dashboard. */
  dashboard: DashboardSettings | null
  /** Whether this is the operator's door: the socket in the data directory, or this very process. */
  isOperatorsDoor?: boolean
  /** Gives the server's figures; null if no server runs. */
  server: (() => ServerFigures) | null
  /** The nodes that do not know of the last change made here, by name; absent for a server alone. */
  nodesBehind?: () => Promise<readonly string[]>
  /** The way out of the machine, and what is called when alerts are to be looked after. */
  alerts: Pick<AlertDeps, 'outside' | 'onChange'>
  /** Days that raw events are kept for, and so accepted for; may change while the server runs. */
  retentionDays: number
  /** A file that an older release has served under its hash, or null. */
  olderSnippetFile(name: string): Promise<string | null>
  observers: readonly ResponseObserver[]
}

/** What managing an organisation needs from storage. */
export interface ManagementStores {
  flows: FlowStore
  looks: LookStore
  eventLog: EventLog
  activity: ActivityStore
  tickets: TicketStore
  environments: EnvironmentStore
  images: ImageStore
  seen: SeenStore
  explaining: ExplainStore
  evidence: StepEvidenceStore
  runs: RunStore
  access: AccessStore
  organisations: OrganisationStore
  people: PeopleStore
  peopleList: PeopleList
  segments: SegmentStore
  operations: OperationsStore
  signIns: DashboardStore
  members: MemberStore
  alerts: AlertStore
  managementTokens: KnownTokens
  dashboardSessions: KnownSessions
}

/** Checks for problems and sends messages, in a thread where nobody waits for a response. */
export function alertWatch(
  deps: Pick<AppDeps, 'clock' | 'stores' | 'management'> & {
    outside(): Outside
    onError(error: unknown): void
  },
) {
  const { stores, management, clock, outside, onError } = deps
  const { alerts: store, evidence, operations } = management
  const watch = new AlertWatch({ store, stores, evidence, operations, clock, outside, onError })
  return {
    everyMs: checkEveryMs,
    /** Checks every organisation that has alerts. */
    check: (signal?: AbortSignal) => watch.check(signal),
    /** Sends what is due. Resolves once each message was attempted. */
    sendDue: dueSender({ store, clock, outside }, onError),
  }
}

/** How long a download may stand still before it is given up; others have the idle timeout of their server. */
const longIdleSeconds = 240

/** Every route of the public port. */
export function routesOf(deps: AppDeps): Route[] {
  const { stores, management, flowWork, clock } = deps
  const analytics = analyticsRoutes({
    ...{ stores, clock },
    ...{ flows: management.flows, segments: management.segments },
  })
  const steps = stepRoutes(deps, management.evidence)
  const publicUrl = deps.dashboard?.publicUrl ?? null
  const routes = [
    ...flowRoutes({ stores, explaining: management.explaining, peopleList: management.peopleList }),
    ...checklistRoutes(deps),
    ...eventRoutes(deps, { log: management.eventLog, activity: management.activity }),
    ...steps.routes,
    ...installationRoutes({
      ...{ stores, seen: management.seen, clock },
      publicUrl,
    }),
    ...analytics.routes,
    ...accessRoutes({ access: management.access }),
    ...memberRoutes({ members: management.members }),
    ...organisationRoutes({ ...management, clock }),
    ...authoringRoutes({ ...management, flowWork }),
    ...ticketRoutes({ ...management, stores, flowWork }),
    ...environmentRoutes({ ...management, stores, flowWork }),
    ...imageRoutes({ ...management, publicUrl }),
    ...runRoutes({ stores, runs: management.runs, segments: management.segments }),
    ...segmentRoutes({ segments: management.segments }),
    ...peopleRoutes({ ...management, stores, clock }),
    ...operationsRoutes({ ...management, server: deps.server }),
    ...alertRoutes({ store: management.alerts, stores, clock, ...deps.alerts }),
    ...dashboardRoutes({
      ...deps,
      ...management,
      store: management.signIns,
      exportRoute: analytics.exportRoute,
      historyRoute: steps.historyRoute,
    }),
  ]
  // The description describes itself too.
  routes.push(...descriptionRoutes(routes))
  return [...routes, ...snippetRoutes(deps), ...manualRoutes]
}

/** A path as a pattern: `:name` is one part of it, a last `*` is all that follows. */
const patternOf = (path: string) =>
  path
    .split(/:\w+/)
    .map(part => RegExp.escape(part).replace(/\\\*$/, '.+'))
    .join('[^/]+')

/** Finds the routes of a path if none of them took the request as it was sent, for 405 and preflight. */
function pathTable(routes: ReadonlyMap<string, readonly Route[]>) {
  const table = [...routes].map(([path, ofPath]) => ({
    matches: new RegExp(`^${patternOf(path)}/?$`),
    routes: ofPath,
  }))
  return (path: string) => table.find(({ matches }) => matches.test(path))?.routes ?? []
}

/**
 * The HTTP API. Opens nothing: everything that it needs is passed in.
 *
 * The order of a request: a target that is too long is rejected (414); a preflight is answered; the route
 * (404, 405); then its endpoint. No Elysia hook runs before a route, because one would make Elysia build a
 * second URL, and wait, for each request.
 */
export function createApp(deps: AppDeps) {
  const api = routesOf(deps)
  // A tool's request passes every check that it would pass if it came from outside.
  const routes = [...api, ...mcpRoutes(api, async request => app.handle(request))]
  const byPath = Map.groupBy(routes, publicPath)
  const routesAt = pathTable(byPath)
  const responder = new Responder(deps)

  const callOf = (request: Request, route: Route | null) =>
    new RequestContext(request, route, deps.clock.now(), deps.clock.monotonic())

  /** Shows the limit of the method that is requested. */
  const respondToPreflight = (request: Request, known: readonly Route[]): Response => {
    const preflighted = request.headers.get('access-control-request-method')
    const route = known.find(({ method }) => method === preflighted) ?? known[0] ?? null
    return responder.respond(callOf(request, route), preflight)
  }

  /** Redirects the root to a page. */
  const front = { status: 302, headers: { Location: deps.dashboard ? 'dashboard' : 'docs' } }

  /** What a browser gets at an unknown path in place of JSON; null where it gets the same as everybody. */
  const replyToBrowser = (request: Request): Reply | null => {
    const path = pathOf(request)
    if (path === '/' && asksForPage(request)) return front
    return path.startsWith('/docs/') ? missingPage(request) : null
  }

  /** Refuses an unknown path (404), or a method that the path does not take (405). */
  const noRoute = (request: Request): Response => {
    const known = routesAt(pathOf(request))
    if (request.method === 'OPTIONS') return respondToPreflight(request, known)
    const call = callOf(request, known[0] ?? null)
    if (known.length === 0) {
      const reply = replyToBrowser(request)
      if (reply) return responder.respond(call, reply)
      return responder.reject(call, new AppError('not_found', 'Nothing exists at this path'))
    }
    const methods = known.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    const rejection = new AppError('method_not_allowed', `This path accepts ${methods.join(', ')}`)
    const reply = errorResponse(rejection)
    const headers = { ...reply.headers, Allow: [...methods, 'OPTIONS'].join(', ') }
    return responder.rejectWith(call, rejection, { ...reply, headers })
  }

  const rejectTarget = (request: Request): Response => {
    const [route = null] = routesAt(pathOf(request))
    return responder.reject(callOf(request, route), targetTooLong())
  }

  // Otherwise Elysia would take a host of fewer than four characters, and what follows it, for a longer host.
  const app = new Elysia({ normalize: false, handler: { standardHostname: false } })
    .wrap(next => (request: Request) => {
      completeUrl(request)
      return hasLongTarget(request) ? rejectTarget(request) : next(request)
    })
    .onError(({ code, error, request }) =>
      code === 'NOT_FOUND' ? noRoute(request) : responder.reject(callOf(request, null), error),
    )

  /**
   * Bound, so that there is no source text. Elysia would read it to guess what a handler needs, and take it
   * for one that has to be awaited because it has a call after a `return`. Elysia reads no body either,
   * because it sees none wanted; an option for that would make it wrap each response in a promise.
   */
  const register = (method: string, path: string, handle: (routed: RoutedRequest) => unknown) =>
    app.route(method, path, handle.bind(null) as never)

  const keepOpen = (request: Request) => app.server?.timeout(request, longIdleSeconds)
  const dashboard = deps.dashboard && dashboardOf(deps.dashboard, deps.clock)
  const endpointDeps = { ...deps, ...deps.management, dashboard, responder, keepOpen }
  for (const [path, ofPath] of byPath) {
    for (const route of ofPath) {
      const endpoint = new Endpoint(route, endpointDeps)
      const handle = (routed: RoutedRequest) => endpoint.handle(routed)
      register(route.method, path, handle)
      if (route.method === 'GET') register('HEAD', path, handle)
    }
    register('OPTIONS', path, ({ request }) => respondToPreflight(request, ofPath))
  }
  return app
}
