import { describe, expect, test } from 'bun:test'
import { Metrics } from '../../src/server/metrics.ts'

/** Samples of the Prometheus text format by name and labels. */
function samplesOf(text: string): Record<string, number> {
  const lines = text.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(
    lines.map(line => {
      const at = line.lastIndexOf(' ')
      return [line.slice(0, at), Number(line.slice(at + 1))]
    }),
  )
}

const routes = ['GET /flows', 'POST /events']

describe('metrics', () => {
  test('counts of all threads add up, HEAD as GET, requests without a route apart', () => {
    const memory = Metrics.memory()
    const [one, two] = [new Metrics(memory, routes), new Metrics(memory, routes)]
    one.countAnswer('GET', '/flows', 200, 0.4)
    two.countAnswer('HEAD', '/flows', 200, 3)
    two.countAnswer('POST', '/events', 202, 3)
    two.countAnswer('GET', null, 404, 0.1)
    const samples = samplesOf(one.render({}))
    expect(samples['cairn_http_requests_total{route="GET /flows",status="200"}']).toBe(2)
    expect(samples['cairn_http_requests_total{route="POST /events",status="202"}']).toBe(1)
    expect(samples['cairn_http_requests_total{route="",status="404"}']).toBe(1)
  })

  test('histograms are cumulative and end with all', () => {
    const metrics = new Metrics(Metrics.memory(), routes)
    for (const ms of [0.5, 3, 40, 60_000]) metrics.countAnswer('GET', '/flows', 200, ms)
    const samples = samplesOf(metrics.render({}))
    const bucket = (le: string) =>
      samples[`cairn_http_request_duration_seconds_bucket{route="GET /flows",le="${le}"}`]
    expect([bucket('0.001'), bucket('0.005'), bucket('0.05'), bucket('5'), bucket('+Inf')]).toEqual(
      [1, 2, 3, 3, 4],
    )
    expect(samples['cairn_http_request_duration_seconds_count{route="GET /flows"}']).toBe(4)
  })

  test('every family says what it is', () => {
    const metrics = new Metrics(Metrics.memory(), routes)
    metrics.countAnswer('GET', '/flows', 200, 1)
    metrics.countCommit({ commands: 2, events: 50, durationMs: 3 })
    const text = metrics.render({ cairn_buffer_events: { help: 'Waiting.', value: 7 } })
    const families = new Set(
      Object.keys(samplesOf(text)).map(name =>
        name.replace(/\{.*/, '').replace(/_(bucket|sum|count)$/, ''),
      ),
    )
    for (const family of families) expect(text).toContain(`# TYPE ${family} `)
    expect(samplesOf(text)).toMatchObject({
      cairn_commits_total: 1,
      cairn_stored_events_total: 50,
      cairn_buffer_events: 7,
    })
  })
})
