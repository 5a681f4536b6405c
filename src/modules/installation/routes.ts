import type { PersonIds } from '../../core/event/stored-event.ts'
import { windowMs } from '../../core/organisation/limits.ts'
import { type Clock, isoTime } from '../../core/time/clock.ts'
import { minuteMs } from '../../core/time/durations.ts'
import { freshReply } from '../../http/encoded.ts'
import { personIn, requireCleanText } from '../../http/input.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { json, type Reply } from '../../http/responder.ts'
import { managing, type Route, route } from '../../http/route.ts'
import type { InstallationStores, SeenStore } from '../../storage/interfaces/installation.ts'
import { Heartbeat, HeartbeatQuery, Installation, SnippetStatus } from './schema.ts'
import { installationService } from './service.ts'

/** How often the snippet should send a heartbeat. */
const defaultMs = 5 * minuteMs
/**
 * How soon a page that waits for somebody's progress learns of it if the limit allows, and how late at
 * most. Milliseconds.
 */
const soonestMs = 10_000
const latestMs = 30 * minuteMs
/**
 * Shares of the limit that are promised to pages, usually and when many wait. The rest is for pages that
 * come unasked.
 */
const promisedShare = 0.8
const promisedInCrowd = 0.5

/** Routes for whether the snippet is installed and alive, and what is wrong if it is not. */
export function installationRoutes(deps: {
  stores: InstallationStores
  seen: SeenStore
  /** Where browsers reach this server; null if that is not configured. */
  publicUrl: string | null
  clock: Clock
}): Route[] {
  const { stores, clock } = deps
  const service = installationService(deps)

  /**
   * In how many milliseconds it is the page's turn. All pages that wait for somebody's progress take turns.
   * A page that comes unasked was promised no turn, and takes that of another.
   */
  const turnOf = (
    { org, startedAt, taken }: RequestContext,
    isWaiting: boolean,
    isKnown: boolean,
  ): number =>
    stores.presence.reserveBeat(org.ref, startedAt, {
      moments: isWaiting && !isKnown ? 2 : 1,
      soonestMs: isWaiting ? soonestMs : 0,
      apartMs: Math.ceil(windowMs / (org.limits.heartbeat * promisedShare)),
      apartInCrowdMs: Math.ceil(windowMs / (org.limits.heartbeat * promisedInCrowd)),
      latestMs,
      remaining: taken?.remaining ?? 0,
      resetInMs: taken?.resetInMs ?? windowMs,
    })

  const heartbeat = async (
    call: RequestContext,
    person: PersonIds | null,
    isKnown: boolean,
  ): Promise<Reply> => {
    const turn = turnOf(call, person !== null, isKnown)
    const progressVersion = person && (await stores.checklists.version(call.org.ref, person))
    return json(200, {
      status: 'ok',
      serverTime: isoTime(clock.now()),
      flowsVersion: stores.catalogue().publishedFlows(call.org).version,
      nextHeartbeatSeconds: Math.ceil((person === null ? defaultMs : turn) / 1_000),
      ...(progressVersion !== null && { progressVersion }),
    } satisfies Heartbeat)
  }

  return [
    route({
      method: 'GET',
      path: '/heartbeat',
      operation: 'sendHeartbeat',
      tag: 'Liveness',
      summary: 'The snippet says that it is alive',
      caller: 'snippet key',
      bucket: 'heartbeat',
      keyInQuery: true,
      isWrite: true,
      query: HeartbeatQuery,
      description:
        'Name a person by `userId` or `anonymousId`, and the answer has a `progressVersion` too: as long ' +
        'as it stays, there is no need to ask for `checklist-progress` again.',
      responses: { 200: { description: 'Noted.', schema: Heartbeat } },
      async handle(call) {
        const { query, org, receivedAt } = call
        const { v, userId, anonymousId, progressVersion } = query
        requireCleanText({ v })
        const isNamed = userId !== undefined || anonymousId !== undefined
        const person = isNamed ? personIn(query) : null
        stores.presence.mark(org.ref, 'heartbeat', receivedAt)
        if (v) await stores.presence.recordSnippetVersion(org.ref, v, receivedAt)
        return heartbeat(call, person, progressVersion !== undefined)
      },
    }),
    route({
      method: 'GET',
      path: '/snippet-status',
      operation: 'getSnippetStatus',
      tag: 'Liveness',
      summary: 'What was seen of the snippet, and what is wrong',
      caller: 'snippet key',
      bucket: 'status',
      description:
        'Codes and counts alone: whoever views the page has the key that asks this. Asking is not ' +
        'counted as having been seen.',
      responses: { 200: { description: 'As of now.', schema: SnippetStatus } },
      async handle(call) {
        return json(200, await service.status(call.org, call.receivedAt))
      },
    }),
    route({
      ...managing('flows:read'),
      method: 'GET',
      path: '/manage/install',
      operation: 'getInstallation',
      summary: 'What pages need, whether the snippet is alive on them, and what is wrong',
      responses: { 200: { description: 'As of now.', schema: Installation, isShared: true } },
      async handle(call) {
        return freshReply(call, await service.installation(call.org, call.receivedAt))
      },
    }),
  ]
}
