import type { PersonIds } from '../../core/event/event.ts'
import { windowMs } from '../../core/organisation/limits.ts'
import { type Clock, isoTime } from '../../core/time/clock.ts'
import { minuteMs } from '../../core/time/durations.ts'
import { personIn, requireCleanText } from '../../http/input.ts'
import { management, toJson } from '../../http/management.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { json, type Reply } from '../../http/responder.ts'
import { type Route, route } from '../../http/route.ts'
import type { InstallationStores, SeenStore } from '../../storage/interfaces/installation.ts'
import { Heartbeat, HeartbeatQuery, Installation, SnippetStatus } from './schema.ts'
import { readInstallation, readStatus } from './service.ts'

/** How often the snippet should send a heartbeat. */
const defaultMs = 5 * minuteMs
/**
 * Milliseconds after which a page that waits for somebody's progress learns of it: at least, if the limit
 * allows, and at most.
 */
const minMs = 10_000
const maxMs = 30 * minuteMs
/**
 * Shares of the limit that are promised to pages, usually and when many wait. The rest is for pages that
 * come without a turn.
 */
const promisedShare = 0.8
const promisedInCrowd = 0.5

const managed = management('flows:read')

/** Routes for whether the snippet is installed and alive, and what is wrong if it is not. */
export function installationRoutes(deps: {
  stores: InstallationStores
  seen: SeenStore
  /** Where browsers reach this server; null if that is not configured. */
  publicUrl: string | null
  clock: Clock
}): Route[] {
  const { stores, clock } = deps

  /**
   * In how many milliseconds it is the page's turn. All pages that wait for somebody's progress take turns.
   * A page that comes without a turn takes that of another.
   */
  const turnOf = (
    { org, startedAt, taken }: RequestContext,
    isWaiting: boolean,
    isKnown: boolean,
  ): number =>
    stores.presence.reserveBeat(org.ref, startedAt, {
      moments: isWaiting && !isKnown ? 2 : 1,
      soonestMs: isWaiting ? minMs : 0,
      apartMs: Math.ceil(windowMs / (org.limits.heartbeat * promisedShare)),
      apartInCrowdMs: Math.ceil(windowMs / (org.limits.heartbeat * promisedInCrowd)),
      latestMs: maxMs,
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
      summary: 'Report that the snippet is active',
      caller: 'snippet key',
      bucket: 'heartbeat',
      keyInQuery: true,
      isWrite: true,
      query: HeartbeatQuery,
      description:
        'If the request names a person by `userId` or `anonymousId`, the response has a ' +
        '`progressVersion`. As long as it stays the same, so does `checklist-progress`.',
      responses: { 200: { description: 'Recorded.', schema: Heartbeat } },
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
      summary: 'Get whether the snippet is active, and what is wrong',
      caller: 'snippet key',
      bucket: 'status',
      description:
        'Returns only codes and counts, because the snippet key is public. Calling this does not count as ' +
        'activity of the snippet.',
      responses: { 200: { description: 'The current status.', schema: SnippetStatus } },
      async handle(call) {
        const status = await readStatus(stores, call.org, call.receivedAt)
        return json(200, toJson(SnippetStatus, status))
      },
    }),
    managed.get(
      '/manage/install',
      'getInstallation',
      'Get what pages need, whether the snippet is active, and what is wrong',
      { returns: Installation, isShared: true },
      async ({ org, receivedAt }) => ({
        ...(await readInstallation(deps, org, receivedAt)),
        publicUrl: deps.publicUrl,
      }),
    ),
  ]
}
