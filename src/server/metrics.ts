/** Statuses that a route can answer; anything else is counted as 500. */
const statuses = [200, 202, 204, 304, 400, 401, 403, 404, 405, 413, 415, 422, 429, 499, 500, 503]

/** Upper bounds of the latency buckets, milliseconds. */
const latencyBoundsMs = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000]

/** A histogram: a word a latency bucket, one for what lies beyond, and the sum in milliseconds. */
const histogramWords = latencyBoundsMs.length + 2

/** A route: a counter a status, then a histogram. */
const wordsPerRoute = statuses.length + histogramWords

const singles = ['commits', 'commit_faults', 'stored_commands', 'stored_events'] as const

type Single = (typeof singles)[number]

/** Where the routes begin: behind the single counters and the histogram of commits. */
const routesAt = singles.length + histogramWords

/** The most routes that there is room for, besides the place of requests without one. */
const mostRoutes = 63

const asRouted = (method: string) => (method === 'HEAD' ? 'GET' : method)

const placeOf = (route: number) => routesAt + route * wordsPerRoute

/** How metrics name a route. */
export const routeLabel = ({ method, path }: { method: string; path: string }) =>
  `${method} ${path}`

/**
 * Counters in memory that all threads share: a request adds to some words, and whoever scrapes
 * reads them. Labels come from fixed lists, so no caller can make them grow. Words are 32-bit and
 * wrap; Prometheus takes that for a restart.
 */
export class Metrics {
  private readonly words: Uint32Array

  /**
   * @param routes how the routes are named, in the order that all threads share; a thread that
   *   counts no requests and renders nothing needs none
   */
  constructor(
    memory: SharedArrayBuffer,
    private readonly routes: readonly string[] = [],
  ) {
    if (routes.length > mostRoutes) throw new Error(`There is room for ${mostRoutes} routes`)
    this.words = new Uint32Array(memory)
  }

  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer((routesAt + (mostRoutes + 1) * wordsPerRoute) * 4)
  }

  countAnswer(method: string, route: string | null, status: number, durationMs: number): void {
    const label = route === null ? '' : routeLabel({ method: asRouted(method), path: route })
    const found = this.routes.indexOf(label)
    const at = placeOf(found === -1 ? mostRoutes : found)
    const index = statuses.indexOf(status)
    Atomics.add(this.words, at + (index === -1 ? statuses.indexOf(500) : index), 1)
    this.observe(at + statuses.length, durationMs)
  }

  countCommit(report: { commands: number; events: number; durationMs: number }): void {
    this.add('commits', 1)
    this.add('stored_commands', report.commands)
    this.add('stored_events', report.events)
    this.observe(singles.length, report.durationMs)
  }

  add(single: Single, count: number): void {
    Atomics.add(this.words, singles.indexOf(single), count)
  }

  /** In the Prometheus text format, 0.0.4. */
  render(gauges: Record<string, { help: string; value: number }>): string {
    const lines: string[] = []
    const family = (name: string, type: string, help: string) => {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`)
    }
    const routes = [...this.routes.map((label, i) => [label, placeOf(i)] as const)]
    routes.push(['', placeOf(mostRoutes)])
    family('cairn_http_requests_total', 'counter', 'Requests by route and status.')
    for (const [route, at] of routes) {
      for (const [i, status] of statuses.entries()) {
        const count = this.words[at + i]
        if (count) {
          lines.push(`cairn_http_requests_total{route="${route}",status="${status}"} ${count}`)
        }
      }
    }
    const duration = 'cairn_http_request_duration_seconds'
    family(duration, 'histogram', 'Time from receipt to the answer, by route.')
    for (const [route, at] of routes) {
      this.renderHistogram(lines, duration, at + statuses.length, `route="${route}"`)
    }
    family('cairn_commit_duration_seconds', 'histogram', 'Time of a group commit, synced.')
    this.renderHistogram(lines, 'cairn_commit_duration_seconds', singles.length, '')
    for (const single of singles) {
      family(`cairn_${single}_total`, 'counter', `Since the start: ${single.replace('_', ' ')}.`)
      lines.push(`cairn_${single}_total ${this.words[singles.indexOf(single)]}`)
    }
    for (const [name, { help, value }] of Object.entries(gauges)) {
      family(name, 'gauge', help)
      lines.push(`${name} ${value}`)
    }
    return `${lines.join('\n')}\n`
  }

  private observe(at: number, durationMs: number): void {
    const index = latencyBoundsMs.findIndex(bound => durationMs <= bound)
    Atomics.add(this.words, at + (index === -1 ? latencyBoundsMs.length : index), 1)
    Atomics.add(this.words, at + latencyBoundsMs.length + 1, Math.round(durationMs))
  }

  private renderHistogram(lines: string[], name: string, at: number, label: string): void {
    const counts = [...this.words.subarray(at, at + latencyBoundsMs.length + 1)]
    const total = counts.reduce((sum, count) => sum + count, 0)
    if (total === 0) return
    const prefix = label === '' ? '' : `${label},`
    let below = 0
    for (const [i, bound] of latencyBoundsMs.entries()) {
      below += counts[i] ?? 0
      lines.push(`${name}_bucket{${prefix}le="${bound / 1000}"} ${below}`)
    }
    lines.push(`${name}_bucket{${prefix}le="+Inf"} ${total}`)
    const own = label === '' ? '' : `{${label}}`
    lines.push(`${name}_sum${own} ${(this.words[at + latencyBoundsMs.length + 1] ?? 0) / 1000}`)
    lines.push(`${name}_count${own} ${total}`)
  }
}
