import { apiOf } from '../../support/binary.ts'
import { none, noProblem, some } from '../result.ts'
import type { Fault } from './fault.ts'

/** Storage that takes one batch or two every 100 ms for a while, and clients that send far more. */
const slowCommits = { short: 30, long: 300 }
const clients = 60

export const overload: Fault = {
  what: 'far more load than storage takes',
  longRounds: 3,
  async run(site, isLong) {
    const commits = slowCommits[isLong ? 'long' : 'short']
    const server = await site.start(['--buffer-events', '100', '--log-level', 'error'], {
      CAIRN_FAILPOINTS: `before_commit=delay:100*${commits}`,
    })
    const load = site.load(server, { clients })
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
    const { counts, withoutRetryAfter } = site.takeResponses()
    const others = [...counts.keys()].filter(status => ![200, 202, 503].includes(status ?? 0))
    await server.end()
    return [
      some('requests rejected with 503', counts.get(503) ?? 0),
      none('of these without Retry-After', withoutRetryAfter),
      noProblem('other responses than 200, 202 and 503', others.map(String)),
      none('reads that failed meanwhile', failedReads),
      ...(await site.finish()),
    ]
  },
}
