import { describe, expect, test } from 'bun:test'
import { CommitCounters, type CountedRoute, HttpCounters } from '../../src/runtime/counters.ts'
import { Exposition } from '../../src/runtime/exposition.ts'
import { noEvent } from '../../src/storage/sqlite/ledger/event-batches.ts'
import { MetricsPage } from '../support/prometheus.ts'

const routes: CountedRoute[] = [
  { method: 'GET', path: '/flows', bucket: 'flows' },
  { method: 'GET', path: '/flows/:flow_id/checklist-progress', bucket: 'flows' },
  { method: 'POST', path: '/flows/:flow_id/checklist-progress', bucket: 'flows' },
  { method: 'POST', path: '/events', bucket: 'events' },
]

const requests = 'cairn_http_requests_total'
const duration = 'cairn_http_request_duration_seconds'

function httpPage(counters: HttpCounters): MetricsPage {
  const page = new Exposition()
  counters.render(page)
  return new MetricsPage(page.toString())
}

function commitPage(counters: CommitCounters): MetricsPage {
  const page = new Exposition()
  counters.render(page)
  return new MetricsPage(page.toString())
}

const get = { method: 'GET', route: '/flows', organisation: null, status: 200, durationMs: 0.2 }

describe('requests', () => {
  test('are counted by method, route and status', () => {
    const counters = new HttpCounters(routes)
    counters.responded(get)
    counters.responded(get)
    counters.responded({ ...get, method: 'HEAD' })
    counters.responded({ ...get, route: null, status: 404 })
    const page = httpPage(counters)
    const of = (method: string, route: string, status: string) =>
      page.sum(requests, { method, route, status })
    expect(of('GET', '/flows', '200')).toBe(2)
    expect(of('HEAD', '/flows', '200')).toBe(1)
    expect(of('GET', 'other', '404')).toBe(1)
    expect(page.sum(requests)).toBe(4)
  })

  test('series that alerts ask for are there from the start, as 0', () => {
    const page = httpPage(new HttpCounters(routes))
    for (const { method, path } of routes) {
      for (const status of ['401', '429', '500', '503']) {
        expect(page.of(requests, { method, route: path, status })).toMatchObject([{ value: 0 }])
      }
    }
    expect(page.of('cairn_rate_limited_total')).toHaveLength(9)
    expect(page.of('cairn_unauthorized_total', { cause: 'retired_key' })).toHaveLength(1)
  })

  test('callers add no series: odd methods, paths and statuses are counted together', () => {
    const counters = new HttpCounters(routes)
    const before = httpPage(counters).samples.length
    for (let i = 0; i < 500; i++) {
      counters.responded({
        ...get,
        method: `M${i}`,
        route: `/r${i}`,
        status: 600 + i,
        durationMs: i,
      })
    }
    const page = httpPage(counters)
    expect(page.sum(requests, { method: 'other', route: 'other', status: '500' })).toBe(500)
    expect(page.samples.length - before).toBeLessThan(25)
  })

  test('durations: buckets from 0.1 ms on, inclusive bounds, the sum not rounded', () => {
    const counters = new HttpCounters(routes)
    for (const durationMs of [0.05, 0.1, 0.2, 0.4, 3, 60_000])
      counters.responded({ ...get, durationMs })
    const page = httpPage(counters)
    const labels = { route: '/flows', status_class: '2xx' }
    const upTo = (le: string) => page.sum(`${duration}_bucket`, { ...labels, le })
    expect(['0.0001', '0.00025', '0.0005', '0.005', '10', '+Inf'].map(upTo)).toEqual([
      2, 3, 4, 5, 5, 6,
    ])
    expect(page.sum(`${duration}_sum`, labels)).toBeCloseTo(60.00375, 9)
  })
})

describe('commits', () => {
  const batch = { orgRow: 1, receivedAt: 0, skewMs: null }

  test('are counted with the latency of each, and the events of those that had any', () => {
    const counters = new CommitCounters()
    counters.committed({ commands: 2, events: 50, durationMs: 1.5 })
    counters.committed({ commands: 0, events: 0, durationMs: 0.25 })
    const page = commitPage(counters)
    expect(page.sum('cairn_commit_duration_seconds_count')).toBe(2)
    expect(page.sum('cairn_commit_duration_seconds_sum')).toBeCloseTo(0.00175, 9)
    expect(page.sum('cairn_commit_events_sum')).toBe(50)
    expect(page.sum('cairn_commit_events_bucket', { le: '25' })).toBe(0)
    expect(page.sum('cairn_commit_events_bucket', { le: '50' })).toBe(1)
    expect(page.sum('cairn_commands_total')).toBe(2)
  })

  test('events are counted by verdict, and each verdict is there from the start', () => {
    const counters = new CommitCounters()
    expect(commitPage(counters).of('cairn_events_total')).toHaveLength(11)
    const events = Array.from({ length: 5 }, (_, i) => ({
      ...noEvent,
      id: `${i}`,
      kind: 'custom' as const,
    }))
    counters.appended(
      { ...batch, events, refusals: { invalid: 2, too_old: 1 } },
      { duplicates: [0], deadLetters: [3], erased: [] },
    )
    const page = commitPage(counters)
    const verdicts = Object.fromEntries(
      page.of('cairn_events_total').map(({ labels, value }) => [labels.verdict, value]),
    )
    expect(verdicts).toMatchObject({
      accepted: 3,
      duplicate: 1,
      storage: 1,
      invalid: 2,
      too_old: 1,
    })
    expect(page.sum('cairn_events_total')).toBe(8)
    expect(page.sum('cairn_dead_letters_total')).toBe(1)
  })
})

test('label values are escaped', () => {
  const page = new Exposition()
  page.family('x', 'gauge', 'X.')
  page.sample('x', 1, { label: 'a"b\\c\nd' })
  expect(page.toString()).toEndWith('x{label="a\\"b\\\\c\\nd"} 1\n')
  expect(new MetricsPage(page.toString()).samples[0]?.labels.label).toBe('a"b\\c\nd')
})
