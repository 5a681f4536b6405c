import { setTimeout as pause } from 'node:timers/promises'
import {
  apiOf,
  metricOf,
  type Server,
  sessionToken,
  withUnlimitedTour,
} from '../../support/binary.ts'
import { openFilesOf, rssMiBOf } from '../../support/process.ts'
import { until } from '../../support/until.ts'
import { tourOf } from '../load/clients.ts'
import { noProblem } from '../result.ts'
import type { Site } from '../site.ts'
import type { Fault } from './fault.ts'

const seconds = { short: 8, long: 1_800 }

/** After this time idle connections are closed; an analyst's are the last, after four minutes. */
const maxRestMs = 260_000

/** Everything that goes on beside the load, with how often, milliseconds. */
async function workOf(
  site: Site,
  server: Server,
): Promise<[everyMs: number, work: () => Promise<void>][]> {
  const { place, tenants } = site
  const { slug, snippetKey } = tenants[0]!
  const rotated = await withUnlimitedTour(place, 'Rotated')
  const page = apiOf(server, snippetKey)
  const analyst = apiOf(server, await sessionToken(place, slug))
  const { flowId } = await tourOf(page)
  const reads = (ask: typeof page, path: string) => async () => {
    const response = await ask('GET', path)
    await response.arrayBuffer()
    if (response.status !== 200) throw new Error(`${path} was answered by ${response.status}`)
  }
  const runs =
    (...args: string[]) =>
    async () =>
      void (await place.json(args))
  return [
    [20, reads(page, '/flows')],
    [50, reads(page, `/flows/${flowId}`)],
    [50, reads(page, '/heartbeat?v=1.0.0')],
    [500, reads(page, '/snippet-status')],
    [1_000, reads(analyst, `/flows/${flowId}/analytics`)],
    [3_000, reads(analyst, `/flows/${flowId}/analytics/export.csv`)],
    [3_000, reads(analyst, `/flows/${flowId}/analytics/export.csv?rows=runs`)],
    [3_000, reads(analyst, `/flows/${flowId}/analytics/export.csv?rows=events`)],
    [3_000, runs('key', 'rotate', '--org', rotated.slug)],
    [5_000, runs('backup', 'backups/', '--keep', '2')],
  ]
}

/** Repeats work at its pace until the signal; returns what failed. */
async function repeat(everyMs: number, work: () => Promise<void>, signal: AbortSignal) {
  const failures: string[] = []
  while (!signal.aborted) {
    await work().catch(({ message }: Error) => failures.push(message))
    await pause(everyMs, null, { signal }).catch(() => {})
  }
  return failures
}

export const soak: Fault = {
  what: 'everything at once, and nothing fails',
  longRounds: 1,
  async run(site, isLong) {
    const server = await site.start(['--log-level', 'warn'])
    const { pid } = server.child
    const work = await workOf(site, server)
    const [filesBefore, mibBefore] = [openFilesOf(pid), rssMiBOf(pid)]
    const ended = new AbortController()
    const load = site.load(server, { clients: 2, restMs: 10, isPublishing: true })
    const beside = work.map(([everyMs, one]) => repeat(everyMs, one, ended.signal))
    await Bun.sleep(1_000 * seconds[isLong ? 'long' : 'short'])
    ended.abort()
    const failures = (await Promise.all(beside)).flat()
    await load.stop()
    const statuses = [...site.takeResponses().counts.keys()].filter(one => !one || one >= 400)
    const filesLeft = () => openFilesOf(pid) - filesBefore
    if (isLong) await until(filesLeft, count => count <= 2, maxRestMs).catch(() => {})
    const left = filesLeft()
    const lag = await metricOf(server, 'cairn_projection_lag_events')
    const mib = `${Math.round(mibBefore)}, ${Math.round(rssMiBOf(pid))}`
    const status = await server.end()
    return [
      noProblem('requests and commands that failed', [...failures, ...statuses.map(String)]),
      noProblem('lines of the log at warn or above', server.stdout.split('\n').filter(Boolean)),
      {
        what: 'open files left after a long rest',
        value: left,
        ...(isLong && { isOk: left <= 2 }),
      },
      { what: 'events not projected at the end', value: lag },
      { what: 'resident memory before and after, MiB', value: mib },
      { what: 'exit status of a stop', value: status, isOk: status === 0 },
      ...(await site.finish()),
    ]
  },
}
