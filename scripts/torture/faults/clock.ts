import { hourMs } from '../../../src/core/time/durations.ts'
import { apiOf, type Server, sessionToken, withTour } from '../../support/binary.ts'
import { FakeClock, fakeTimeLibrary } from '../../support/fake-clock.ts'
import { tourOf } from '../load/clients.ts'
import { noProblem } from '../result.ts'
import type { Site } from '../site.ts'
import type { Fault } from './fault.ts'

/** By how much the clock is set while the server serves, milliseconds. The last makes a second come twice. */
const steps = {
  short: [hourMs, -hourMs, -1_000],
  long: [hourMs, -hourMs, -hourMs, hourMs, 24 * hourMs, -24 * hourMs, -1_000],
}

/** How many times it is set while a server starts. */
const starts = { short: 2, long: 40 }

/** Sends so many heartbeats, and counts those that the limit of ten a minute lets through. */
async function letThrough(ask: ReturnType<typeof apiOf>, count: number): Promise<number> {
  let admitted = 0
  for (let i = 0; i < count; i++) if ((await ask('GET', '/heartbeat')).status === 200) admitted++
  return admitted
}

/** Sets the clock of a busy server once; returns what is wrong with an organisation of its own. */
async function setOnce({ place }: Site, server: Server, clock: FakeClock, step: number) {
  const problems: string[] = []
  const expect = (what: string, found: unknown, expected: unknown) => {
    if (found !== expected) problems.push(`set by ${step / 1_000} s: ${what} is ${found}`)
  }
  const { slug, snippetKey } = await withTour(place, `Clock ${Bun.randomUUIDv7().slice(-6)}`)
  const ask = apiOf(server, snippetKey)
  const { flowId } = await tourOf(ask)
  const token = async (duration: string) =>
    apiOf(server, await sessionToken(place, slug, ['--for', duration], clock.env))
  const [short, long] = [await token('30m'), await token('7d')]
  const send = async (userId: string) => {
    const event = { kind: 'flow_started', userId, flowId }
    expect('an event', (await ask('POST', '/events', { events: [event] })).status, 202)
  }
  const complete = async (completed: boolean) => {
    const body = { userId: 'ann', items: [{ key: 'first', completed }] }
    const response = await ask('POST', `/flows/${flowId}/checklist-progress`, body)
    const { items } = (await response.json()) as { items: { completed: boolean }[] }
    expect('the last write of an item', items[0]?.completed, completed)
  }
  expect('heartbeats before it', await letThrough(ask, 10), 10)
  await send('before')
  await complete(true)
  clock.setBy(step)
  const { status, headers } = await ask('GET', '/heartbeat')
  const waitSeconds = Number(headers.get('retry-after'))
  expect('the eleventh heartbeat', status, 429)
  expect('a wait of at most a minute', waitSeconds > 0 && waitSeconds <= 60, true)
  await send('after')
  await complete(false)
  const path = `/flows/${flowId}/analytics?from=${dateOf(clock.now() - 24 * hourMs)}&to=${dateOf(clock.now() + 24 * hourMs)}`
  expect(
    'a token for half an hour',
    (await short('GET', path)).status,
    step > hourMs / 2 ? 401 : 200,
  )
  const { totals } = (await (await long('GET', path)).json()) as { totals: { starts: number } }
  // Of two people who sent an event, and of one who completed an item.
  expect('the number of runs', totals.starts, 3)
  return problems
}

const dateOf = (at: number) => new Date(at).toISOString().slice(0, 10)

/** All threads go by the same time, even if the wall clock is set between their starts. */
async function setWhileStarting({ place, random, tenants }: Site, clock: FakeClock, count: number) {
  const problems: string[] = []
  const { slug, snippetKey } = tenants[0]!
  await place.json(['org', 'limits', slug, '--heartbeat', '10'])
  for (let i = 0; i < count; i++) {
    const server = await place.start(['--threads', '3'], clock.env)
    await Bun.sleep(random.between(30, 200))
    clock.setBy(i % 2 === 0 ? -hourMs : hourMs)
    await server.ready
    const { status } = await fetch(`${server.managementUrl}/readyz`)
    if (status !== 200) problems.push(`a start is answered by ${status}`)
    const admitted = await letThrough(apiOf(server, snippetKey), 14)
    if (admitted !== 10) problems.push(`${admitted} heartbeats of 10 were let through`)
    await server.end()
  }
  return problems
}

export const clock: Fault = {
  what: 'the wall clock is set by hours and by a second, at work and in a start',
  longRounds: 1,
  missing: () => (fakeTimeLibrary() === null ? 'libfaketime (Debian: faketime)' : null),
  async run(site, isLong) {
    const form = isLong ? 'long' : 'short'
    const fake = new FakeClock(fakeTimeLibrary()!, site.place.folder)
    const server = await site.start([], fake.env)
    const load = site.load(server, { clients: 1, restMs: 5, isPublishing: true })
    const problems: string[] = []
    for (const step of steps[form]) problems.push(...(await setOnce(site, server, fake, step)))
    await load.stop()
    await server.end()
    const started = await setWhileStarting(site, fake, starts[form])
    return [
      noProblem('limits, tokens or numbers that are wrong after it was set', problems),
      noProblem('servers that are not ready, or count limits wrongly, after a start', started),
      ...(await site.finish()),
    ]
  },
}
