import { KindGuard, type TObject } from '@sinclair/typebox'
import { AppError } from '../core/errors.ts'
import type { Clock } from '../core/time/clock.ts'
import { type GateDeps, passGate } from './gate.ts'
import { readFile, readJson, readQuery, requireKnown, requireShape, shapeOf } from './input.ts'
import { pathOf, queryOf, RequestContext } from './request-context.ts'
import { behindHeader, type Reply, type Responder } from './responder.ts'
import { defaultBodyLimitBytes, mayChange, type Route } from './route.ts'
import { checkUserHash } from './user-hash.ts'

/** The parts of Elysia's request that are used here. */
export interface RoutedRequest {
  request: Request
  /** Absent if the path has none. */
  params?: Readonly<Record<string, string>>
}

export interface EndpointDeps extends GateDeps {
  clock: Clock
  responder: Responder
  /** See `AppDeps`. */
  nodesBehind?: () => Promise<readonly string[]>
  /** Lets a connection stay idle for longer than others may. */
  keepOpen(request: Request): void
}

const noParams = {}

/** Names in a form that a header can hold, because another machine's name may contain anything. */
const listOf = (names: readonly string[]) =>
  names.map(name => name.replace(/[^!#-+\--~]/g, '?')).join(', ')

const listsIn = (query: TObject | undefined): ReadonlySet<string> =>
  new Set(
    Object.entries(query?.properties ?? {}).flatMap(([name, field]) =>
      KindGuard.IsArray(field) ? name : [],
    ),
  )

/** The shapes of a route's body and query, compiled once. */
const checksOf = ({ body, query }: Route) => ({
  body: body && shapeOf(body),
  query: query && shapeOf(query),
  queryNames: Object.keys(query?.properties ?? {}),
  /** Those parameters that may be given several times. */
  queryLists: listsIn(query),
  /** Whether the request may name a user, and so has to prove that it may. */
  namesUser: 'userHash' in ((body ?? query)?.properties ?? {}),
})

/**
 * Redirects a request for one of Cairn's pages or files that has a slash after its name, because the browser
 * would resolve the page's relative links below that name. The target is relative, because a proxy may have
 * put a path in front.
 *
 * @throws AppError `not_found` for a script, which would look beside the address that the page gave it
 */
function ownAddress({ request }: RequestContext): Reply | null {
  const path = pathOf(request)
  if (!path.endsWith('/')) return null
  const name = path.slice(path.lastIndexOf('/', path.length - 2) + 1, -1)
  if (name.endsWith('.js')) throw new AppError('not_found', 'Nothing exists at this path')
  const query = queryOf(request)
  return { status: 308, headers: { Location: `../${name}${query && `?${query}`}` } }
}

/**
 * A route at work. The order of a request: the gate (401, 429, 403, the path's id); room in storage for what
 * is sent (503); the body (413, 415, 400); the shape (422); the hash of the user it names (401); the module's
 * verb.
 */
export class Endpoint {
  private readonly checks: ReturnType<typeof checksOf>

  constructor(
    private readonly route: Route,
    private readonly deps: EndpointDeps,
  ) {
    this.checks = checksOf(route)
  }

  async handle({ request, params = noParams }: RoutedRequest): Promise<Response> {
    const { route } = this
    const { clock, responder } = this.deps
    const call = new RequestContext(request, route, clock.now(), clock.monotonic())
    try {
      call.params = params
      await passGate(call, route, params, this.deps)
      return responder.respond(call, await this.replyTo(call))
    } catch (error) {
      return responder.reject(call, error)
    }
  }

  private replyTo(call: RequestContext): Reply | Promise<Reply> {
    const moved = this.route.caller === 'anyone' ? ownAddress(call) : null
    if (moved) return moved
    if (this.checks.body) return this.replyToBody(call)
    if (this.route.binaryBody) return this.replyToFile(call)
    this.takeQuery(call)
    return this.carryOut(call)
  }

  private async replyToFile(call: RequestContext): Promise<Reply> {
    this.deps.stores.ledger.requireRoom()
    this.takeQuery(call)
    call.bytes = await readFile(call.request, this.route.bodyLimitBytes ?? defaultBodyLimitBytes)
    return this.carryOut(call)
  }

  private async replyToBody(call: RequestContext): Promise<Reply> {
    const { route, checks, deps } = this
    // Every request with a body is a write. Reading and parsing one only to reject it would take time and
    // memory from everybody else just when they are short.
    const { ledger } = deps.stores
    ledger.requireRoom()
    const limitBytes = route.bodyLimitBytes ?? defaultBodyLimitBytes
    const isPlain = route.caller === 'management'
    const sent = await readJson(call.request, limitBytes, isPlain, () => ledger.requireRoom())
    requireShape(checks.body as NonNullable<typeof checks.body>, sent.value)
    call.body = sent.value
    call.bodyText = sent.text
    this.takeQuery(call)
    return this.carryOut(call)
  }

  private takeQuery(call: RequestContext): void {
    const { query: shape, queryNames, queryLists } = this.checks
    if (!shape) {
      if (this.route.caller === 'management') requireKnown(call.request, [])
      return
    }
    const query = readQuery(call.request, queryNames, queryLists)
    if (this.route.caller === 'management') requireKnown(call.request, queryNames)
    requireShape(shape, query)
    call.query = query
  }

  private carryOut(call: RequestContext): Reply | Promise<Reply> {
    const { deps } = this
    if (this.checks.namesUser) checkUserHash(call, deps.stores)
    if (this.route.isLong) {
      call.onBroken = error => deps.responder.breakOff(call, error)
      deps.keepOpen(call.request)
    }
    const reply = this.route.handle(call as never)
    return deps.nodesBehind && mayChange(this.route)
      ? this.withNodesBehind(reply, deps.nodesBehind)
      : reply
  }

  /** Requests from now on should see the change. If a node may not show it yet, the response names it. */
  private async withNodesBehind(
    pending: Reply | Promise<Reply>,
    nodesBehind: () => Promise<readonly string[]>,
  ): Promise<Reply> {
    const reply = await pending
    const names = reply.status < 300 ? await nodesBehind() : []
    if (names.length === 0) return reply
    return { ...reply, headers: { ...reply.headers, [behindHeader]: listOf(names) } }
  }
}
