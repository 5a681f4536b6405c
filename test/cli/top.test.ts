import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type Figures, figuresBetween, type Look } from '../../src/cli/top/figures.ts'
import { MetricsPage, quantileBetween } from '../../src/cli/top/metrics-page.ts'
import { linesOf } from '../../src/cli/top/screen.ts'
import { apiOf, Workplace, withTour } from '../support/binary.ts'

const page = (...lines: string[]) => new MetricsPage(lines.join('\n'))

const look = (atMs: number, ...lines: string[]): Look => ({
  atMs,
  metrics: page('cairn_build_info{version="1.2.3",commit="abc"} 1', ...lines),
  traffic: new Map(),
})

const counts = { requests: 0, limited: 0, accepted: 0, duplicates: 0, rejected: 0 }

describe('what happened between two looks', () => {
  test('rates are a second', () => {
    const from = look(0, 'cairn_http_requests_total{status="200"} 100')
    const to = look(
      2_000,
      'cairn_http_requests_total{status="200"} 300',
      'cairn_http_requests_total{status="429"} 10',
    )
    const { requests } = figuresBetween(from, to, 0)
    expect(requests).toMatchObject({ rate: 105, limited: 5, overloaded: 0 })
  })

  test('a server that was started anew begins at 0', () => {
    const from = look(
      0,
      'process_start_time_seconds 100',
      'cairn_events_total{verdict="accepted"} 9',
    )
    const to = look(
      1_000,
      'process_start_time_seconds 200',
      'cairn_events_total{verdict="accepted"} 4',
    )
    expect(figuresBetween(from, to, 230_000)).toMatchObject({
      events: { accepted: 4 },
      upSeconds: 30,
    })
  })

  test('organisations: the busiest first, silent ones left out, counts begun anew not negative', () => {
    const from = look(0)
    const to = look(2_000)
    const of = (slug: string, requests: number) =>
      [slug, { ...counts, id: slug, slug, requests }] as const
    from.traffic = new Map([of('a', 10), of('b', 10), of('c', 50)])
    to.traffic = new Map([of('a', 20), of('b', 10), of('c', 8), of('d', 30)])
    const rates = figuresBetween(from, to, 0).organisations.map(o => [o.slug, o.requests])
    expect(rates).toEqual([
      ['d', 15],
      ['a', 5],
      ['c', 4],
    ])
  })

  test('quantiles are of what was observed between, by the bucket that holds them', () => {
    const at = (...of: number[]) =>
      page(...of.map((n, i) => `h_bucket{le="${['0.1', '1', '+Inf'][i]}"} ${n}`))
    const between = (share: number) =>
      quantileBetween(at(100, 100, 100), at(150, 198, 200), 'h', share)
    expect([0.5, 0.98, 0.999].map(between)).toEqual([0.1, 1, Number.POSITIVE_INFINITY])
    expect(quantileBetween(at(1, 1, 1), at(1, 1, 1), 'h', 0.5)).toBeNull()
  })
})

describe('the screen', () => {
  const busy = (): Figures => {
    const from = look(0)
    const to = look(
      1_000,
      'cairn_ready 1',
      'cairn_http_requests_total{status="429"} 12345678',
      'cairn_rate_limited_total{bucket="events"} 12345678',
      'cairn_buffer_events 45000',
      'cairn_buffer_limit_events 50000',
      'cairn_storage_refusing 1',
    )
    const slug = 'an-organisation-with-a-very-long-name-that-goes-on-and-on'
    to.traffic = new Map(
      Array.from({ length: 50 }, (_, i) => [
        `${i}`,
        { ...counts, id: `${i}`, slug: `${slug}-${i}`, requests: 1_234_567, accepted: 99_999 },
      ]),
    )
    return figuresBetween(from, to, 0)
  }

  test.each([40, 80, 200])('no line is longer than its %d columns', columns => {
    const lines = linesOf(busy(), 'http://127.0.0.1:9090', {
      columns,
      rows: null,
      isColoured: false,
    })
    expect(Math.max(...lines.map(line => line.length))).toBeLessThanOrEqual(columns)
    expect(lines.join('\n')).not.toContain('\x1b')
  })

  test('at 80 columns all columns of the table are there', () => {
    const lines = linesOf(busy(), 'http://x:1', { columns: 80, rows: null, isColoured: false })
    const header = lines.find(line => line.startsWith('ORGANISATION'))
    expect(header).toEndWith('REQUESTS/S  429/S  ACCEPTED/S  DUPLICATE/S  REJECTED/S')
    expect(lines.join('\n')).toContain('storage REFUSES writes')
  })

  test('no more lines than there are rows', () => {
    const screen = { columns: 80, rows: 20, isColoured: true }
    expect(linesOf(busy(), 'http://x:1', screen)).toHaveLength(20)
  })
})

describe('of a running server', () => {
  let place: Workplace
  beforeEach(() => {
    place = new Workplace()
  })
  afterEach(() => place.close())

  test('shows the organisation that sends, its 429s and verdicts; found by the data directory', async () => {
    const { snippetKey } = await withTour(place)
    const server = await place.serve(['--threads', '2'])
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
    const figures = await place.json<Figures>(['top'])
    const { stdout, stderr, status } = await place.run(['top', '--once'])
    isOver = true
    await load
    const [acme, ...others] = figures.organisations
    expect(others).toEqual([])
    expect(acme).toMatchObject({ slug: 'acme' })
    for (const column of ['requests', 'limited', 'accepted', 'duplicates', 'rejected'] as const) {
      expect(acme?.[column]).toBeGreaterThan(0)
    }
    expect(figures).toMatchObject({ ready: true, threads: { up: 2, configured: 2 } })
    expect(figures.limitedByBucket.heartbeat).toBeGreaterThan(0)
    expect(figures.commits.p99Seconds).toBeGreaterThan(0)
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^ORGANISATION +REQUESTS\/S/m)
    expect(stdout).toMatch(/^acme +[\d.]+ /m)
    expect(stdout).not.toContain('\x1b')
  })

  test('nothing is counted by organisation once nobody looks on', async () => {
    const { snippetKey } = await withTour(place)
    const server = await place.serve()
    await apiOf(server, snippetKey)('GET', '/flows')
    const traffic = async () => (await fetch(`${server.managementUrl}/traffic`)).json()
    // The first look begins to count.
    expect(await traffic()).toEqual([])
    await apiOf(server, snippetKey)('GET', '/flows')
    expect(await traffic()).toMatchObject([{ slug: 'acme', requests: 1, limited: 0 }])
  })

  test('status 1 where none answers, or another program does', async () => {
    const none = await place.run(['top', '--management-port', '1'])
    expect([none.status, none.stderr]).toEqual([
      1,
      expect.stringMatching(/cannot be reached \(.+\): is a server running\?\n$/),
    ])
    const other = Bun.serve({ port: 0, fetch: () => new Response('hello') })
    const { status, stderr } = await place.run(['top', '--management-port', `${other.port}`])
    await other.stop(true)
    expect([status, stderr]).toEqual([1, expect.stringContaining('--management-port')])
  })
})
