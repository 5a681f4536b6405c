import { apiOf } from '../../support/binary.ts'
import type { Site } from '../site.ts'
import { type Check, none, noProblem, some } from '../verdict.ts'

/** Storage takes one batch or two every 100 ms so many times, and clients send far more. */
const slowCommits = { short: 30, long: 300 }

export async function overload(site: Site, isLong: boolean): Promise<Check[]> {
  const commits = slowCommits[isLong ? 'long' : 'short']
  const server = await site.start(['--buffer-events', '100', '--log-level', 'error'], {
    CAIRN_FAILPOINTS: `before_commit=delay:100*${commits}`,
  })
  const load = site.load(server, { clients: 60 })
  const ask = apiOf(server, site.tenants[0]!.snippetKey)
  const end = performance.now() + commits * 100
  let failedReads = 0
  while (performance.now() < end) {
    if ((await ask('GET', '/flows')).status !== 200) failedReads++
    await Bun.sleep(10)
  }
  // It takes everything again.
  await site.until(500)
  await load.stop()
  const responses = site.takeResponses()
  await server.end()
  return [
    some('requests rejected with 503', responses.counts.get(503) ?? 0),
    none('of these without Retry-After', responses.withoutRetryAfter),
    noProblem('other responses than 200, 202 and 503', responses.others(200, 202, 503)),
    none('reads that failed meanwhile', failedReads),
    ...(await site.finish()),
  ]
}
