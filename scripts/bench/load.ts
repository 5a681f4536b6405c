import { join } from 'node:path'
import type { Program } from './programs.ts'
import type { Tenant } from './seed.ts'

/** Load by wrk, which costs less than what it measures. */

/** What a load has to know about its target. */
export type Loadable = Pick<Program, 'urls' | 'cpuMicros' | 'helperCpuMicros'>

/** The results of a load. */
export interface Loaded {
  requests: number
  perSecond: number
  /** CPU of the program under load, including its helper's, microseconds per request. */
  cpuMicros: number
  /** The helper's part of it: its database's. */
  helperCpuMicros: number
  p50Ms: number
  p99Ms: number
  maxMs: number
  errors: number
}

type WrkReport = Omit<Loaded, 'perSecond' | 'cpuMicros' | 'helperCpuMicros'> & { seconds: number }

/** How long a load is, and how many connections make it. */
export interface Size {
  seconds: number
  connections: number
}

interface WrkOptions {
  env?: Record<string, string>
  headers?: Record<string, string>
}

/** Loads a program. If it has several processes, each gets the same load, together of that size. */
async function wrk(
  program: Loadable,
  script: string,
  path: string,
  { seconds, connections }: Size,
  optionsOf: () => WrkOptions,
): Promise<Loaded> {
  const { urls } = program
  const size = { seconds, connections: Math.ceil(connections / urls.length) }
  const before = [program.cpuMicros(), program.helperCpuMicros()]
  const reports = await Promise.all(
    urls.map(url => runWrk(`${url}${path}`, script, size, optionsOf())),
  )
  const after = [program.cpuMicros(), program.helperCpuMicros()]
  const sum = (of: (report: WrkReport) => number) =>
    reports.reduce((total, report) => total + of(report), 0)
  const most = (of: (report: WrkReport) => number) => Math.max(...reports.map(of))
  const requests = sum(report => report.requests)
  const [cpuMicros, helperCpuMicros] = after.map((cpu, i) => (cpu - before[i]!) / requests)
  return {
    requests,
    perSecond: sum(report => report.requests / report.seconds),
    ...{ cpuMicros: cpuMicros!, helperCpuMicros: helperCpuMicros! },
    // The slowest one's, if there are several processes.
    p50Ms: most(({ p50Ms }) => p50Ms),
    p99Ms: most(({ p99Ms }) => p99Ms),
    maxMs: most(({ maxMs }) => maxMs),
    errors: sum(({ errors }) => errors),
  }
}

/**
 * Longer than any server lets a request wait, so that a slow answer shows up in the percentiles and not as an
 * error. wrk's default is two seconds.
 */
const timeout = '30s'

async function runWrk(
  url: string,
  script: string,
  { seconds, connections }: Size,
  options: WrkOptions,
): Promise<WrkReport> {
  const headers = Object.entries(options.headers ?? {}).flatMap(header => ['-H', header.join(': ')])
  const child = Bun.spawn(
    ['wrk', '-t1', `-c${connections}`, `-d${seconds}`, '--timeout', timeout].concat(
      ['-s', join(import.meta.dir, script)],
      headers,
      url,
    ),
    { env: { PATH: process.env.PATH ?? '', ...options.env }, stdout: 'pipe', stderr: 'inherit' },
  )
  const text = await new Response(child.stdout).text()
  const json = /^JSON (.*)$/m.exec(text)?.[1]
  if (!json) throw new Error(`wrk said:\n${text}`)
  return JSON.parse(json) as WrkReport
}

let loads = 0

/** A load of new events. */
export interface EventLoad extends Size {
  /** The file that `writeTenants` made. */
  tenants: string
  batch: number
  ids: 'v7' | 'v4'
  path?: string
  people?: number
  /** How many runs are open. A request holds the next event of some of them. If absent, whole runs in turn. */
  openRuns?: number
}

/** Posts batches of new events. */
export function postEvents(program: Loadable, load: EventLoad): Promise<Loaded> {
  const { tenants, batch, ids, path = '/api/v1/events', openRuns } = load
  // With open runs, enough people for each of the many runs to have its own.
  const { people = openRuns === undefined ? 50_000 : 1e9 } = load
  const envOf = () => ({
    BENCH_KEYS: tenants,
    BENCH_BATCH: `${batch}`,
    BENCH_IDS: ids,
    // No two loads may make the same ids.
    BENCH_NONCE: `${(Date.now() % 1e9) * 100 + (++loads % 100)}`,
    BENCH_PATH: path,
    BENCH_PEOPLE: `${people}`,
    ...(openRuns !== undefined && { BENCH_OPEN: `${openRuns}` }),
  })
  return wrk(program, 'events.lua', '', load, () => ({ env: envOf() }))
}

/** One request as an organisation's pages send it. */
export interface Request {
  path: string
  headers: Record<string, string>
  /** JSON to be posted. */
  body?: string
}

/** Sends one request over and over. With a pause, each connection waits that long in between. */
export function repeat(
  program: Program,
  { path, headers, body }: Request,
  load: Size & { pauseMs?: number },
): Promise<Loaded> {
  const env: Record<string, string> = { BENCH_PAUSE: `${load.pauseMs ?? 0}` }
  if (body !== undefined) env.BENCH_BODY = body
  return wrk(program, 'same.lua', path, load, () => ({ env, headers }))
}

/** The headers that a browser sends. */
export const asBrowser = (tenant: Tenant): Record<string, string> => ({
  Authorization: `Bearer ${tenant.snippetKey}`,
  'Accept-Encoding': 'gzip, deflate, br',
  Origin: 'https://app.example.com',
})

/** Throws if a request of a load failed. */
export function allAnswered(what: string, loads: readonly Loaded[]): void {
  const failed = loads.reduce((sum, { errors }) => sum + errors, 0)
  if (failed > 0) throw new Error(`${what}: ${failed} requests failed`)
}
