import { join } from 'node:path'
import type { Program } from './programs.ts'

/** What a load has seen. */
export interface Loaded {
  requests: number
  perSecond: number
  /** CPU of the program under load, microseconds a request. */
  cpuMicros: number
  p50Ms: number
  p99Ms: number
  errors: number
}

interface WrkReport {
  requests: number
  seconds: number
  p50Ms: number
  p99Ms: number
  errors: number
}

async function wrk(
  program: Program,
  args: string[],
  env: Record<string, string> = {},
): Promise<Loaded> {
  const before = program.cpuMicros()
  const child = Bun.spawn(['wrk', '-t1', ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const text = await new Response(child.stdout).text()
  const cpu = program.cpuMicros() - before
  const json = /^JSON (.*)$/m.exec(text)?.[1]
  if (!json) throw new Error(`wrk said:\n${text}`)
  const { requests, seconds, ...rest } = JSON.parse(json) as WrkReport
  return { requests, perSecond: requests / seconds, cpuMicros: cpu / requests, ...rest }
}

let loads = 0

/** Posts batches of new events. */
export function postEvents(
  program: Program,
  options: {
    tenants: string
    batch: number
    ids: 'v7' | 'v4'
    path: string
    seconds: number
    connections: number
  },
): Promise<Loaded> {
  const { tenants, batch, ids, path, seconds, connections } = options
  return wrk(
    program,
    [`-c${connections}`, `-d${seconds}`, '-s', join(import.meta.dir, 'events.lua'), program.url],
    {
      BENCH_KEYS: tenants,
      BENCH_BATCH: `${batch}`,
      BENCH_IDS: ids,
      // No two loads of a run may make the same ids.
      BENCH_NONCE: `${Math.floor(Date.now() / 1000) - 60_000_000 + ++loads * 100_000}`,
      BENCH_PATH: path,
    },
  )
}

/** Asks for one address again and again. */
export function get(
  program: Program,
  path: string,
  headers: Record<string, string>,
  options: { seconds: number; connections: number },
): Promise<Loaded> {
  const { seconds, connections } = options
  const given = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const script = join(import.meta.dir, 'get.lua')
  const args = [`-c${connections}`, `-d${seconds}`, '-s', script, ...given]
  return wrk(program, [...args, `${program.url}${path}`])
}
