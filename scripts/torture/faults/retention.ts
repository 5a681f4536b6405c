import { dayMs } from '../../../src/core/time/durations.ts'
import {
  apiOf,
  metricOf,
  type Server,
  sessionToken,
  withUnlimitedTour,
} from '../../support/binary.ts'
import { until } from '../../support/until.ts'
import { tourOf } from '../load/clients.ts'
import { noProblem, some } from '../result.ts'
import type { Fault } from './fault.ts'

/** How long ago the old events were received, and how long events are kept. */
const ageDays = 100
const keptDays = 90

/** Requests of 50 events each. */
const requests = { short: 200, long: 20_000 }

/** What an analyst sees of the old runs of an organisation of their own. */
function analystOf(server: Server, token: string, flowId: string) {
  const date = (days: number) => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10)
  const range = `from=${date(ageDays + 2)}&to=${date(ageDays - 2)}`
  const ask = apiOf(server, token)
  return {
    async analytics() {
      const response = await ask('GET', `/flows/${flowId}/analytics?${range}`)
      const { generatedAt, ...body } = (await response.json()) as Record<string, unknown>
      return body
    },
    async events() {
      const path = `/flows/${flowId}/analytics/export.csv?rows=events&${range}`
      return (await (await ask('GET', path)).text()).trim().split('\r\n').length - 1
    },
  }
}

export const retention: Fault = {
  what: 'old events are deleted while new ones come, with a kill in the middle',
  longRounds: 2,
  async run(site, isLong) {
    const { place } = site
    const { slug, snippetKey } = await withUnlimitedTour(place, 'Old')
    const at = Date.now() - ageDays * dayMs
    const past = { CAIRN_TEST_NOW: new Date(at).toISOString() }
    const start = () => site.start(['--retention-days', `${keptDays}`])
    const first = await site.start([], past)
    const ask = apiOf(first, snippetKey)
    const { flowId, stepId } = await tourOf(ask)
    for (let i = 0; i < requests[isLong ? 'long' : 'short']; i++) {
      const events = Array.from({ length: 50 }, (_, n) => {
        const run = `${i}-${Math.floor(n / 5)}`
        const kind = [
          'flow_started',
          'step_viewed',
          'step_viewed',
          'step_completed',
          'flow_completed',
        ][n % 5]!
        const about = kind.startsWith('step') ? { stepId } : {}
        return { ...about, kind, flowId, runId: run, userId: `user-${i}`, occurredAt: at + n }
      })
      const { status } = await ask('POST', '/events', { events })
      if (status !== 202) throw new Error(`old events were answered by ${status}`)
    }
    await first.end()
    const token = await sessionToken(place, slug)
    let server = await site.start(['--retention-days', '3650'])
    const before = await analystOf(server, token, flowId).analytics()
    // A clock is trusted for deleting only if the newest event is recent.
    let load = site.load(server)
    await site.until(50)
    await load.stop()
    const stored = await analystOf(server, token, flowId).events()
    await server.end()

    server = await start()
    load = site.load(server, { isPublishing: true })
    const deleted = () => metricOf(server, 'cairn_retention_deleted_events_total')
    await until(deleted, count => count > 0)
    await site.kill(server, load)
    server = await start()
    load = site.load(server, { isPublishing: true })
    const analyst = analystOf(server, token, flowId)
    await until(analyst.events, count => count === 0)
    await load.stop()
    const after = await analyst.analytics()
    await server.end()
    const differing = Object.keys(before).filter(name => !Bun.deepEquals(before[name], after[name]))
    return [
      some('old events, all of them deleted', stored),
      noProblem('parts of the analytics that changed', differing),
      ...(await site.finish()),
    ]
  },
}
