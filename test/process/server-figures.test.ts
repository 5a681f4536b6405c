import { afterEach, beforeEach, expect, test } from 'bun:test'
import { until } from '../../scripts/support/until.ts'
import type { Server as Figures } from '../../src/modules/operations/schema.ts'
import { socketFile } from '../../src/runtime/lock.ts'
import { apiOf, Workplace, withTour } from '../support/binary.ts'
import { MetricsPage } from '../support/prometheus.ts'

const columns = ['requests', 'limited', 'accepted', 'duplicates', 'rejected'] as const

/** What a running server tells its operator about itself. */

let place: Workplace
beforeEach(() => {
  place = new Workplace()
})
afterEach(() => place.close())

async function look(): Promise<Figures> {
  const socket = socketFile(place.dataDir)
  const response = await fetch('http://cairn/api/v1/manage/server', { unix: socket })
  expect(response.status).toBe(200)
  return (await response.json()) as Figures
}

test('figures show the sending organisation, its 429s and verdicts, and agree with the metrics', async () => {
  const { snippetKey } = await withTour(place)
  const server = await place.serve()
  const api = apiOf(server, snippetKey)
  let isOver = false
  const load = (async () => {
    const event = { id: 'same', kind: 'custom', name: 'x', userId: 'u' }
    for (let i = 0; !isOver; i++) {
      const events = [event, { ...event, id: `${i}` }, { kind: 'nonsense' }]
      await api('POST', '/events', { events })
      await api('GET', '/heartbeat')
      await Bun.sleep(10)
    }
  })()
  // A slow machine may need more than one look until there is some of everything.
  const [figures, twin] = await until(
    () => Promise.all([look(), look()]),
    ([{ organisations }]) => columns.every(column => (organisations[0]?.[column] ?? 0) > 0),
  )
  isOver = true
  await load
  expect(twin.requests).toEqual(figures.requests)
  expect(figures.organisations.map(({ slug }) => slug)).toEqual(['acme'])
  expect(figures.notReady).toEqual([])
  expect(figures.commits.p99Seconds).toBeGreaterThan(0)

  const after = await look()
  const metrics = new MetricsPage(await (await fetch(`${server.managementUrl}/metrics`)).text())
  const [limited] = after.limits
  expect(limited).toMatchObject({
    bucket: 'heartbeat',
    total: metrics.sum('cairn_rate_limited_total', { bucket: 'heartbeat' }),
  })
  const accepted = after.events.find(({ verdict }) => verdict === 'accepted')
  expect(accepted?.total).toBe(metrics.sum('cairn_events_total', { verdict: 'accepted' }))
  expect(after.disk.databaseBytes).toBe(metrics.sum('cairn_database_bytes'))
  const started = metrics.sum('process_start_time_seconds') * 1_000
  expect(Date.parse(after.startedAt)).toBe(Math.floor(started))
})
