import { type UnauthorizedCause, unauthorizedCauses } from '../core/errors.ts'
import { type Bucket, buckets } from '../core/organisation/buckets.ts'
import { counterMemory, summed } from './counters.ts'
import type { Exposition } from './exposition.ts'
import { Histogram } from './histogram.ts'

/** A declared route, as far as it is counted. */
export interface CountedRoute {
  method: string
  path: string
  bucket?: Bucket
}

/** What is counted of an answer. */
export interface CountedAnswer {
  method: string
  route: string | null
  status: number
  durationMs: number
  cause?: UnauthorizedCause | undefined
}

/** Methods and routes that are none of ours: whatever callers make up is one label. */
const other = 'other'

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', other] as const

/** How a method is told, in metrics and log: a made-up one could hold anything. */
export const methodLabel = (method: string): string =>
  (methods as readonly string[]).includes(method) ? method : other

/** Statuses that are answered; any other is counted as 500. */
const statuses = [
  200, 201, 202, 204, 304, 308, 400, 401, 403, 404, 405, 409, 412, 413, 414, 415, 422, 428, 429,
  499, 500, 503, 507,
]

/** Shown of every route from the start: an alert by `rate` misses a series' first step. */
const watchedStatuses = [401, 429, 500, 503]

const statusClasses = ['2xx', '3xx', '4xx', '5xx'] as const

/** Most answers take 50 to 500 µs; a write waits for the disk, 1 to 50 ms. */
const durations = new Histogram([
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
])

/** The most paths that there is room for, besides that of requests without a route. */
const mostPaths = 63

// In a row: a counter a cause of 401; then a place a (path, method), with a counter a status and a
// histogram a status class.
const placeWords = statuses.length + statusClasses.length * durations.words
const words = unauthorizedCauses.length + (mostPaths + 1) * methods.length * placeWords

const indexOfOther = statuses.indexOf(500)
const indexOfStatus = new Map(statuses.map((status, i) => [status, i]))

const classOf = (status: number) => Math.min(Math.max(Math.floor(status / 100) - 2, 0), 3)

/** Counts the answers of one thread. */
export class HttpCounters {
  private readonly counters: Float64Array
  private readonly places: ReadonlyMap<string | null, number>

  constructor(memory: SharedArrayBuffer, routes: readonly CountedRoute[]) {
    this.counters = new Float64Array(memory)
    this.places = new Map(pathsOf(routes).map((path, i) => [path, i]))
  }

  static memory(): SharedArrayBuffer {
    return counterMemory(words)
  }

  count({ method, route, status, durationMs, cause }: CountedAnswer): void {
    const counters = this.counters
    const path = this.places.get(route) ?? mostPaths
    const at = placeAt(path, methods.indexOf(methodLabel(method) as 'GET'))
    ;(counters[at + (indexOfStatus.get(status) ?? indexOfOther)] as number) += 1
    durations.observe(counters, histogramAt(at, classOf(status)), durationMs / 1_000)
    if (cause) (counters[unauthorizedCauses.indexOf(cause)] as number) += 1
  }
}

/** Each path once, in the order that all threads share. */
function pathsOf(routes: readonly CountedRoute[]): string[] {
  const paths = [...new Set(routes.map(({ path }) => path))]
  if (paths.length > mostPaths) throw new Error(`There is room for ${mostPaths} paths`)
  return paths
}

const placeAt = (path: number, method: number) =>
  unauthorizedCauses.length + (path * methods.length + method) * placeWords

const histogramAt = (place: number, statusClass: number) =>
  place + statuses.length + statusClass * durations.words

/** What all HTTP threads have counted, as metrics. */
export function renderHttp(
  page: Exposition,
  memories: readonly SharedArrayBuffer[],
  routes: readonly CountedRoute[],
): void {
  const counters = summed(memories, words)
  const paths = [...pathsOf(routes).entries(), [mostPaths, other] as const]
  const places = paths.flatMap(([i, route]) =>
    methods.map((method, m) => ({ labels: { method, route }, at: placeAt(i, m) })),
  )
  const isDeclared = (method: string, route: string) =>
    routes.some(declared => declared.method === method && declared.path === route)

  const requests = 'cairn_http_requests_total'
  page.family(requests, 'counter', 'Requests answered.')
  const refusedByPath = new Map<string, number>()
  for (const { labels, at } of places) {
    const { method, route } = labels
    for (const [i, status] of statuses.entries()) {
      const count = counters[at + i] as number
      const isWatched = watchedStatuses.includes(status) && isDeclared(method, route)
      if (count > 0 || isWatched) page.sample(requests, count, { ...labels, status: `${status}` })
      if (status === 429) refusedByPath.set(route, (refusedByPath.get(route) ?? 0) + count)
    }
  }

  const duration = 'cairn_http_request_duration_seconds'
  page.family(
    duration,
    'histogram',
    'Time from receipt to the answer; a download goes on after it.',
  )
  for (const { labels, at } of places) {
    for (const [i, statusClass] of statusClasses.entries()) {
      const histogram = histogramAt(at, i)
      if (durations.count(counters, histogram) === 0) continue
      durations.render(page, duration, counters, histogram, {
        ...labels,
        status_class: statusClass,
      })
    }
  }

  page.family('cairn_rate_limited_total', 'counter', 'Requests over their limit (429).')
  for (const bucket of buckets) {
    const ofBucket = new Set(routes.filter(r => r.bucket === bucket).map(({ path }) => path))
    const count = [...ofBucket].reduce((sum, path) => sum + (refusedByPath.get(path) ?? 0), 0)
    page.sample('cairn_rate_limited_total', count, { bucket })
  }

  page.family('cairn_unauthorized_total', 'counter', 'Requests refused for their credential (401).')
  for (const [i, cause] of unauthorizedCauses.entries()) {
    page.sample('cairn_unauthorized_total', counters[i] as number, { cause })
  }
}
