import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Server as Figures } from '../../src/modules/operations/schema.ts'
import { socketFile } from '../../src/runtime/lock.ts'
import { apiOf, type Server, Workplace, withTour } from '../support/binary.ts'
import { MetricsPage } from '../support/prometheus.ts'

const requests = 'cairn_http_requests_total'

const ask = (server: Server, path: string, init?: RequestInit) =>
  fetch(`${server.managementUrl}${path}`, init)

const metricsOf = async (server: Server) =>
  new MetricsPage(await (await ask(server, '/metrics')).text())

const readiness = async (server: Server) => {
  const response = await ask(server, '/readyz')
  return { status: response.status, text: await response.text() }
}

/** What the operator's page shows of the server. */
async function figuresOf({ dataDir }: Workplace): Promise<Figures> {
  const unix = socketFile(dataDir)
  return (await fetch('http://cairn/api/v1/manage/server', { unix })).json() as Promise<Figures>
}

const custom = (id: string, userId = 'ann') => ({ id, kind: 'custom', name: 'x', userId })

describe('metrics', () => {
  const place = new Workplace()
  let server: Server
  let acme: Awaited<ReturnType<typeof withTour>>
  afterAll(() => place.close())
  beforeAll(async () => {
    acme = await withTour(place)
    await place.run(['org', 'set', 'limits.events', '7', '--org', acme.slug])
    server = await place.serve()
  })

  test('the page is right before any traffic', async () => {
    const page = await metricsOf(server)
    expect(page.sum(requests)).toBe(0)
    expect(page.sum('cairn_storage_refusing')).toBe(0)
    expect(page.sum('cairn_buffer_limit_events')).toBe(50_000)
    expect(page.sum('cairn_database_bytes')).toBeGreaterThan(0)
    expect(page.sum('cairn_disk_free_bytes')).toBeGreaterThan(0)
    expect(page.sum('process_resident_memory_bytes')).toBeGreaterThan(10e6)
    expect(page.sum('process_cpu_seconds_total')).toBeGreaterThan(0)
    const age = Date.now() / 1_000 - page.sum('process_start_time_seconds')
    expect(age).toBeWithin(0, 60)
    expect(page.of('cairn_build_info')[0]?.labels).toContainAllKeys(['version', 'commit'])
  })

  test("the operator's figures are those of the page", async () => {
    const figures = await figuresOf(place)
    const page = await metricsOf(server)
    expect(figures).toMatchObject({ notReady: [], isShared: false, limitsServer: null })
    expect(figures.disk.databaseBytes).toBeGreaterThan(0)
    expect(figures.disk.freeBytes).toBeGreaterThan(0)
    const started = page.sum('process_start_time_seconds') * 1_000
    expect(Date.parse(figures.startedAt)).toBe(Math.floor(started))
  })

  test('the numbers are those of the traffic', async () => {
    const api = apiOf(server, acme.snippetKey)
    const before = await metricsOf(server)
    for (let i = 0; i < 20; i++) await api('GET', '/flows')
    await api('HEAD', '/flows')
    await api('POST', '/events', { events: [custom('a'), custom('b'), custom('a')] })
    const flow = { id: 'd', kind: 'flow_started', userId: 'u', flowId: 'flow_none' }
    await api('POST', '/events', { events: [custom('b'), custom('c'), {}, flow] })
    for (let i = 0; i < 9; i++) await api('POST', '/events', { events: [{}] })
    await fetch(`${server.url}/api/v1/flows`)
    await apiOf(server, 'x'.repeat(32))('GET', '/flows')
    const after = await metricsOf(server)
    const grew = (name: string, labels: Record<string, string> = {}) =>
      after.sum(name, labels) - before.sum(name, labels)
    expect(grew(requests)).toBe(34)
    expect(grew(requests, { method: 'GET', route: '/flows', status: '200' })).toBe(20)
    expect(grew(requests, { method: 'HEAD', route: '/flows', status: '200' })).toBe(1)
    expect(grew(requests, { route: '/events', status: '202' })).toBe(2)
    expect(grew(requests, { route: '/events', status: '422' })).toBe(5)
    expect(grew(requests, { route: '/events', status: '429' })).toBe(4)
    expect(grew('cairn_rate_limited_total', { bucket: 'events' })).toBe(4)
    expect(grew('cairn_rate_limited_total')).toBe(4)
    expect(grew('cairn_unauthorized_total', { cause: 'no_credential' })).toBe(1)
    expect(grew('cairn_unauthorized_total', { cause: 'unknown_key' })).toBe(1)
    expect(grew('cairn_events_total', { verdict: 'accepted' })).toBe(3)
    expect(grew('cairn_events_total', { verdict: 'duplicate' })).toBe(2)
    expect(grew('cairn_events_total', { verdict: 'invalid' })).toBe(6)
    expect(grew('cairn_events_total', { verdict: 'unknown_flow' })).toBe(1)
    const duration = 'cairn_http_request_duration_seconds'
    expect(grew(`${duration}_count`)).toBe(34)
    expect(grew(`${duration}_count`, { route: '/flows', status_class: '2xx' })).toBe(21)
    const sum = grew(`${duration}_sum`, { route: '/flows', status_class: '2xx' })
    expect(sum).toBeGreaterThan(0)
    expect(sum).toBeLessThan(10)
    expect(grew('cairn_commit_events_count')).toBeGreaterThanOrEqual(7)
    expect(grew('cairn_commit_duration_seconds_sum')).toBeGreaterThan(0)
  })

  test('HEAD, other methods and other paths are answered plainly', async () => {
    const head = await ask(server, '/metrics', { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect(head.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const post = await ask(server, '/readyz', { method: 'POST' })
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    const elsewhere = await ask(server, '/nothing?x')
    expect([elsewhere.status, await elsewhere.text()]).toEqual([
      404,
      'This port has /healthz, /readyz and /metrics\n',
    ])
  })
})

describe('readiness', () => {
  test('a server whose storage refuses is not ready, says what to do, and is alive', async () => {
    const place = new Workplace()
    const { snippetKey } = await withTour(place)
    const server = await place.serve([], { CAIRN_FAILPOINTS: 'before_commit=full' })
    expect(await readiness(server)).toEqual({ status: 200, text: 'ready\n' })
    const api = apiOf(server, snippetKey)
    expect((await api('POST', '/events', { events: [custom('a')] })).status).toBe(503)
    const { status, text } = await readiness(server)
    expect(status).toBe(503)
    expect(text).toMatch(/^storage rejects writes: see the log for the reason; /)
    expect((await figuresOf(place)).notReady).toEqual([text.trim()])
    const page = await metricsOf(server)
    expect(page.sum('cairn_storage_refusing')).toBe(1)
    expect(page.sum(requests, { route: '/events', status: '503' })).toBe(1)
    expect(page.sum('cairn_events_total')).toBe(0)
    expect((await ask(server, '/healthz')).status).toBe(200)
    await place.close()
  })

  test('a server whose database is deleted is not ready within seconds', async () => {
    const place = new Workplace()
    const server = await place.serve()
    expect((await readiness(server)).status).toBe(200)
    rmSync(join(place.folder, 'cairn-data/cairn.db'))
    await server.until(async () => (await readiness(server)).status === 503)
    expect((await readiness(server)).text).toMatch(/^the database in .* is gone: /)
    await place.close()
  })
})
