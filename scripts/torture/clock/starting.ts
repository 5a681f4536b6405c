import { hourMs } from '../../../src/core/time/durations.ts'
import { apiOf, withTour } from '../../../test/support/binary.ts'
import { Findings, letThrough, type Stage } from './stage.ts'

/** How often a server's clock is set while it starts. */
const starts = { short: 2, long: 40 }

/** Threads begin at one time, though the wall clock says another between them. */
export async function setWhileStarting({ place, clock, random, isLong }: Stage): Promise<string[]> {
  const findings = new Findings()
  const { snippetKey } = await withTour(place)
  for (let i = 0; i < (isLong ? starts.long : starts.short); i++) {
    const server = await place.start(['--threads', '3'], clock.env)
    const afterMs = random.between(30, 200)
    await Bun.sleep(afterMs)
    clock.setBy(i % 2 === 0 ? -hourMs : hourMs)
    await server.ready
    const what = `set ${Math.round(afterMs)} ms after the start`
    const ready = await (await fetch(`${server.managementUrl}/readyz`)).text()
    findings.expect(what, ready, 'ready\n')
    findings.expect(`${what}, let through`, await letThrough(apiOf(server, snippetKey), 14), 10)
    await server.end()
  }
  return findings.all
}
