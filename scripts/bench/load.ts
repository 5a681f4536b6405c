import { join } from 'node:path'
import { hourMs } from '../../src/core/time/durations.ts'
import { until } from '../support/until.ts'
import { type Environment, type Program, spawn } from './programs.ts'

/** What a load found. */
export interface Loaded {
  requests: number
  perSecond: number
  /** CPU of a request, including PostgreSQL's, microseconds. */
  cpuMicros: number
  postgresCpuMicros: number
  p99Ms: number
}

/** How long a load lasts, and how many connections send it. */
export interface Size {
  seconds: number
  connections: number
  /** Between a response and the next request of its connection. */
  pauseMs?: number
  /** Whether responses may be errors. */
  mayFail?: boolean
}

/** The events of a load. */
export interface Events {
  /** How many a request has. */
  batch: number
  ids?: 'v7' | 'v4'
  /** How many runs are in progress at a time; if absent, a request has whole runs. */
  openRuns?: number
  /** The only flow that they are of. */
  flow?: number
}

/** No two loads may send the same ids. */
let nonce = Date.now() % 1e9

function environmentOf({ organisation }: Program, events: Events): Environment {
  const { batch, ids = 'v7', openRuns = '', flow } = events
  const flows = organisation.flows.filter((_, i) => flow === undefined || i === flow)
  return {
    BENCH_KEY: organisation.snippetKey,
    BENCH_FLOWS: flows.map(({ id, stepIds }) => [id, ...stepIds].join(' ')).join(),
    BENCH_BATCH: `${batch}`,
    BENCH_IDS: ids,
    BENCH_OPEN: `${openRuns}`,
  }
}

export const sendEvents = (program: Program, events: Events, size: Size): Promise<Loaded> =>
  load(program, environmentOf(program, events), size)

/** Sends one request, as it stands in HTTP/1.1, again and again. */
export async function repeat(program: Program, request: string, size: Size): Promise<Loaded> {
  const file = join(program.folder, `request-${++nonce}`)
  await Bun.write(file, request)
  return load(program, { BENCH_REQUEST: file }, size)
}

/** Stores so many runs of ten events, which start evenly over so many days until an hour ago. */
export async function sendHistory(
  program: Program,
  { runs, days, ...events }: { runs: number; days: number; ids: 'v7' | 'v4'; flow: number },
): Promise<void> {
  const end = Math.floor(Date.now() / 1_000) - 3_600
  const from = (Math.floor(end / 86_400) - days + 1) * 86_400
  const history = { BENCH_HISTORY: `${runs} ${from} ${end - from}` }
  const env = { ...environmentOf(program, { ...events, batch: 50 }), ...history }
  const expected = (await program.acceptedEvents())! + runs * 10
  const wrk = spawnWrk(program.urls[0]!, env, { seconds: 100_000, connections: 64 })
  await until(
    () => program.acceptedEvents(),
    accepted => accepted! >= expected,
    hourMs,
  )
  wrk.kill()
  await wrk.exited
}

interface Report {
  requests: number
  seconds: number
  p99Ms: number
  failed: number
}

/** Loads all processes of a program at once, together with so many connections. */
async function load(program: Program, env: Environment, size: Size): Promise<Loaded> {
  const { urls } = program
  const connections = Math.ceil(size.connections / urls.length)
  const before = [program.cpuMicros(), program.postgresCpuMicros()]
  const wrks = urls.map(url => spawnWrk(url, env, { ...size, connections }))
  const outputs = await Promise.all(wrks.map(({ stdout }) => new Response(stdout).text()))
  const after = [program.cpuMicros(), program.postgresCpuMicros()]
  const reports = outputs.map(output => JSON.parse(/^JSON (.*)$/m.exec(output)![1]!) as Report)
  const sum = (numberOf: (report: Report) => number) =>
    reports.reduce((total, report) => total + numberOf(report), 0)
  const [requests, failed] = [sum(report => report.requests), sum(report => report.failed)]
  if (requests === 0 || (failed > 0 && !size.mayFail)) {
    throw new Error(`${failed} of ${requests} requests failed`)
  }
  const [cpuMicros, postgresCpuMicros] = after.map((micros, i) => (micros - before[i]!) / requests)
  return {
    ...{ requests, cpuMicros: cpuMicros!, postgresCpuMicros: postgresCpuMicros! },
    perSecond: sum(report => report.requests / report.seconds),
    p99Ms: Math.max(...reports.map(({ p99Ms }) => p99Ms)),
  }
}

function spawnWrk(url: string, env: Environment, { seconds, connections, pauseMs = 0 }: Size) {
  // A slow response is to show in the percentiles, not as an error after wrk's two seconds.
  const options = ['-t1', `-c${connections}`, `-d${seconds}`, '--timeout', '30s']
  const command = ['wrk', ...options, '-s', join(import.meta.dir, 'load.lua'), url]
  const own = { BENCH_NONCE: `${++nonce}`, BENCH_PAUSE: `${pauseMs}`, PATH: process.env.PATH ?? '' }
  return spawn(command, import.meta.dir, { ...env, ...own })
}
