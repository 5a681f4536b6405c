import { hourMs } from '../../../src/core/time/durations.ts'
import { apiOf } from '../../support/binary.ts'
import { FakeClock, fakeTimeLibrary } from '../../support/fake-clock.ts'
import type { Site } from '../site.ts'
import { type Check, noProblem } from '../verdict.ts'

/** By how much the clock is set while the server serves, milliseconds. The last makes a second come twice. */
const steps = [hourMs, -hourMs, -hourMs, hourMs, 24 * hourMs, -24 * hourMs, -1_000]

/** How many times it is set while a server starts. */
const starts = { short: 2, long: 40 }

/** How many heartbeats a minute admits. */
const limit = 10

/** `test/long/torture/set-clock.test.ts` has the laws in process; here are the threads of the executable. */
export async function clock(site: Site, isLong: boolean): Promise<Check[]> {
  const fake = new FakeClock(fakeTimeLibrary()!, site.place.folder)
  const { slug, snippetKey } = site.tenants[0]!
  const problems: string[] = []
  const server = await site.start([], fake.env)
  const load = site.load(server, { clients: 1, restMs: 5, isPublishing: true })
  for (const step of steps) {
    await site.until(200)
    fake.setBy(step)
  }
  await site.until(200)
  await load.stop()
  const failed = site.takeResponses().others(200, 202)
  await server.end()

  // All threads go by the same time, even if the wall clock is set between their starts.
  await site.place.json(['org', 'set', 'limits.heartbeat', `${limit}`, '--org', slug])
  for (let i = 0; i < starts[isLong ? 'long' : 'short']; i++) {
    const server = await site.place.start([], fake.env)
    await Bun.sleep(site.random.between(30, 200))
    fake.setBy(i % 2 === 0 ? -hourMs : hourMs)
    await server.ready
    const { status } = await fetch(`${server.managementUrl}/readyz`)
    if (status !== 200) problems.push(`a start is answered by ${status}`)
    const ask = apiOf(server, snippetKey)
    let admitted = 0
    for (let n = 0; n < limit + 4; n++) admitted += Number((await ask('GET', '/heartbeat')).ok)
    if (admitted !== limit) problems.push(`${admitted} heartbeats of ${limit} were admitted`)
    await server.end()
  }
  return [
    noProblem('responses that are errors while it is set', failed),
    noProblem('servers that are not ready, or count limits wrongly, after a start', problems),
    ...(await site.finish()),
  ]
}
