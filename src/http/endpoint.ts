import { afterwards } from '../core/maybe-promise.ts'
import type { Clock } from '../core/time/clock.ts'
import { readJson } from './body.ts'
import { Call } from './call.ts'
import { requireShape, shapeOf } from './checked.ts'
import type { Exit } from './exit.ts'
import { type GateDeps, passGate } from './gate.ts'
import { ownAddress } from './own-address.ts'
import { readQuery, requireKnown } from './query.ts'
import type { Reply } from './reply.ts'
import { defaultBodyLimitBytes, type Route } from './route.ts'
import { checkUserHash } from './user-hash.ts'

/** What Elysia hands to a route, as far as it is looked at. */
export interface Arrival {
  request: Request
  /** Absent where the path has none. */
  params?: Readonly<Record<string, string>>
}

export interface EndpointDeps extends GateDeps {
  clock: Clock
  exit: Exit
  /** Lets a connection stand still for longer than others may. */
  keepOpen(request: Request): void
}

const noParams = {}

/** The shapes of a route's body and query, compiled once. */
const checksOf = ({ body, query }: Route) => ({
  body: body && shapeOf(body),
  query: query && shapeOf(query),
  queryNames: Object.keys(query?.properties ?? {}),
  /** Whether it may name a user, and so has to prove that it may. */
  namesUser: 'userHash' in ((body ?? query)?.properties ?? {}),
})

/**
 * A route at work. The order of a request: the gate (401, 429, 403, the path's id); room in storage
 * for what is sent (503); the body (413, 415, 400); the shape (422); the hash of the user it names
 * (401); the module's verb.
 *
 * It gives way to other requests only where there is something to wait for: a read by a snippet key
 * is answered within one turn, because a promise on the way would cost as much as the rest.
 */
export class Endpoint {
  private readonly checks: ReturnType<typeof checksOf>

  constructor(
    private readonly route: Route,
    private readonly deps: EndpointDeps,
  ) {
    this.checks = checksOf(route)
  }

  handle({ request, params = noParams }: Arrival): Response | Promise<Response> {
    const { route, deps } = this
    const { clock, exit } = deps
    const call = new Call(request, route, clock.now(), clock.monotonic())
    try {
      call.params = params
      const reply = afterwards(passGate(call, route, params, deps), () => this.replyTo(call))
      return reply instanceof Promise ? this.answerLater(call, reply) : exit.answer(call, reply)
    } catch (error) {
      return exit.refuse(call, error)
    }
  }

  private async answerLater(call: Call, reply: Promise<Reply>): Promise<Response> {
    const { exit } = this.deps
    try {
      return exit.answer(call, await reply)
    } catch (error) {
      return exit.refuse(call, error)
    }
  }

  private replyTo(call: Call): Reply | Promise<Reply> {
    const moved = this.route.caller === 'anyone' ? ownAddress(call) : null
    if (moved) return moved
    if (this.checks.body) return this.takeBody(call).then(() => this.carryOut(call))
    this.takeQuery(call)
    return this.carryOut(call)
  }

  private async takeBody(call: Call): Promise<void> {
    const { route, checks, deps } = this
    // Whatever has a body is a write: to read and parse one only to refuse it would take from
    // everybody else the time and the memory that are short just then.
    const { ledger } = deps.stores
    ledger.requireRoom()
    const limitBytes = route.bodyLimitBytes ?? defaultBodyLimitBytes
    const sent = await readJson(call.request, limitBytes, () => ledger.requireRoom())
    requireShape(checks.body as NonNullable<typeof checks.body>, sent.value)
    call.body = sent.value
    call.bodyText = sent.text
    this.takeQuery(call)
  }

  private takeQuery(call: Call): void {
    const { query: shape, queryNames } = this.checks
    if (!shape) {
      if (this.route.caller === 'management') requireKnown(call.request, [])
      return
    }
    const query = readQuery(call.request, queryNames)
    if (this.route.caller === 'management') requireKnown(call.request, queryNames)
    requireShape(shape, query)
    call.query = query
  }

  private carryOut(call: Call): Reply | Promise<Reply> {
    const { deps } = this
    if (this.checks.namesUser) checkUserHash(call, deps.stores)
    if (this.route.isLong) {
      call.onBroken = error => deps.exit.breakOff(call, error)
      deps.keepOpen(call.request)
    }
    return this.route.handle(call as never)
  }
}
