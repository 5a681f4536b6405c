import { dayMs } from '../../../src/core/time/durations.ts'
import {
  apiOf,
  metricOf,
  type Server,
  sessionToken,
  withUnlimitedTour,
} from '../../support/binary.ts'
import { until } from '../../support/until.ts'
import { tourOf } from '../load.ts'
import { analyticsOf, type Site } from '../site.ts'
import { type Check, noProblem, some } from '../verdict.ts'

/** How long ago the old events were received; events are kept for 90 days. */
const ageDays = 100
const keeping = ['--retention-days', '90']

/** Requests of 50 events each. */
const requests = { short: 200, long: 20_000 }

const kinds = ['flow_started', 'step_viewed', 'step_viewed', 'step_completed', 'flow_completed']

export async function retention(site: Site, isLong: boolean): Promise<Check[]> {
  const { place } = site
  const { slug, snippetKey } = await withUnlimitedTour(place, 'Old')
  const at = Date.now() - ageDays * dayMs
  const first = await site.start([], { CAIRN_TEST_NOW: new Date(at).toISOString() })
  const ask = apiOf(first, snippetKey)
  const { flowId, stepId } = await tourOf(ask)
  for (let i = 0; i < requests[isLong ? 'long' : 'short']; i++) {
    const events = Array.from({ length: 50 }, (_, n) => {
      const kind = kinds[n % kinds.length]!
      const step = kind.startsWith('step') ? { stepId } : {}
      const run = { flowId, runId: `${i}-${Math.floor(n / 5)}`, userId: `user-${i}` }
      return { kind, ...run, ...step, occurredAt: at + n }
    })
    const { status } = await ask('POST', '/events', { events })
    if (status !== 202) throw new Error(`old events were answered by ${status}`)
  }
  await first.end()
  const token = await sessionToken(place, slug)
  const date = (days: number) => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10)
  const range = `?from=${date(ageDays + 2)}&to=${date(ageDays - 2)}` as const
  const analytics = (server: Server) => analyticsOf(server, { token, flowId }, range)
  const events = async (server: Server) => {
    const path = `/flows/${flowId}/analytics/export.csv${range}&rows=events`
    return (await (await apiOf(server, token)('GET', path)).text()).trim().split('\r\n').length - 1
  }

  let server = await site.start(['--retention-days', '3650'])
  const before = await analytics(server)
  // A clock is trusted for deleting only if the newest event is recent.
  let load = site.load(server)
  await site.until(50)
  await load.stop()
  const stored = await events(server)
  await server.end()

  server = await site.start(keeping)
  load = site.load(server, { isPublishing: true })
  await until(
    () => metricOf(server, 'cairn_retention_deleted_events_total'),
    count => count > 0,
  )
  await site.kill(server, load)
  server = await site.start(keeping)
  load = site.load(server, { isPublishing: true })
  await until(
    () => events(server),
    count => count === 0,
  )
  await load.stop()
  const after = await analytics(server)
  await server.end()
  const differing = Object.keys(before).filter(name => !Bun.deepEquals(before[name], after[name]))
  return [
    some('old events, all of them deleted', stored),
    noProblem('parts of the analytics that changed', differing),
    ...(await site.finish()),
  ]
}
