import { hourMs, minuteMs } from '../../../src/core/time/durations.ts'
import { apiOf, firstFlowOf, type Server, sessionToken, withTour } from '../../support/binary.ts'
import { Findings, letThrough, type Row, rowsOf, type Stage, startsOn } from './stage.ts'

/** By how much the clock is set while the server serves, milliseconds. The last makes a second come twice. */
const steps = {
  short: [hourMs, -hourMs],
  long: [hourMs, -hourMs, -hourMs, hourMs, 24 * hourMs, -24 * hourMs, -1_000],
}

/** Every promise must hold across every step of the clock. */
export async function setWhileServing(stage: Stage): Promise<string[]> {
  const { place, clock, isLong } = stage
  const findings = new Findings()
  const server = await place.serve(['--threads', '2'], clock.env)
  for (const [i, byMs] of (isLong ? steps.long : steps.short).entries()) {
    await setOnce({ ...stage, server, findings, byMs, name: `Step ${i}` })
  }
  await server.end()
  const rebuilt = await place.json<{ changed: number }>(['rebuild'], clock.env)
  findings.expect('flows that a rebuild changes', rebuilt.changed, 0)
  return findings.all
}

interface Setting extends Stage {
  server: Server
  findings: Findings
  byMs: number
  name: string
}

/** Sets the clock once, while an organisation of its own is at work. */
async function setOnce({ place, clock, server, findings, byMs, name, isLong }: Setting) {
  const expect = (what: string, found: unknown, expected: unknown) =>
    findings.expect(`${name} (${byMs / 1_000} s), ${what}`, found, expected)
  const { slug, snippetKey } = await withTour(place, name)
  const [shortToken, longToken] = [
    await sessionToken(place, slug, ['--for', '30m'], clock.env),
    await sessionToken(place, slug, ['--for', '7d'], clock.env),
  ]
  const api = apiOf(server, snippetKey)
  const { id: flowId } = await firstFlowOf(api)
  const event = { kind: 'flow_started', flowId }
  const send = async (events: object[], more: object = {}) => {
    const body = { ...more, events }
    return (await (await api('POST', '/events', body)).json()) as Record<string, unknown>
  }
  const tick = async (completed: boolean) => {
    const body = { userId: 'ann', items: [{ key: 'first', completed }] }
    const response = await api('POST', `/flows/${flowId}/checklist-progress`, body)
    return ((await response.json()) as { items: { completed: boolean }[] }).items[0]?.completed
  }
  const people = Array.from({ length: 50 }, (_, i) => ({ ...event, userId: `u${i}` }))

  expect('let through before', await letThrough(api, 10), 10)
  expect('accepted before', (await send(people)).accepted, 50)
  expect('ticked', await tick(true), true)
  const before = clock.now()
  clock.setBy(byMs)

  const refused = await api('GET', '/heartbeat')
  const waitSeconds = Number(refused.headers.get('retry-after'))
  expect('the eleventh heartbeat', refused.status, 429)
  expect('seconds to wait are of one window', waitSeconds > 0 && waitSeconds <= 60, true)
  const resetIn = Number(refused.headers.get('x-ratelimit-reset')) - clock.now() / 1_000
  expect('the reset is as far ahead', Math.abs(resetIn - waitSeconds) < 60, true)
  expect('accepted after', (await send(people)).accepted, 50)
  const late = { ...event, userId: 'bob', id: 'late', occurredAt: clock.now() + 10 * minuteMs }
  expect('accepted of the future', (await send([late])).accepted, 1)
  const skewed = { ...event, userId: 'cat', id: 'skewed', occurredAt: before }
  const { skewMs } = await send([skewed], { sentAt: before })
  expect('the skew is what the clock was set by', Math.abs(Number(skewMs) - byMs) < minuteMs, true)
  expect('ticked after it was taken back', await tick(false), false)

  const ask = async (path: string, token = longToken) =>
    apiOf(server, token)('GET', `/flows/${flowId}/analytics${path}`)
  expect(
    'a token of half an hour',
    (await ask('', shortToken)).status,
    byMs > hourMs / 2 ? 401 : 200,
  )
  const days = daysAbout(clock.now())
  const starts = await startsOn(await ask(`?${days}`))
  // One run of each named person, because none has a session.
  expect(
    'runs',
    starts.reduce((sum, ofDay) => sum + ofDay, 0),
    people.length + 3,
  )
  const rows = await rowsOf(await ask(`/export.csv?rows=events&${days}`))
  expect('ids told apart', new Set(rows.map(({ id }) => id)).size, rows.length)
  const times = rows.map(({ received_at }) => Date.parse(received_at!))
  const isBefore = times.map(at => Math.abs(at - before) < Math.abs(at - clock.now()))
  if (Math.abs(byMs) > minuteMs) {
    const places = isBefore.lastIndexOf(true) + 1
    expect('receipts before the step come first', places, isBefore.filter(Boolean).length)
  }
  // A tick is later than the one before it, whatever the clock says. Nothing else may be later than its receipt.
  const isAhead = ({ kind, occurred_at, received_at }: Row) =>
    !kind!.startsWith('item_') && occurred_at! > received_at!
  expect('occurred after their receipt', rows.filter(isAhead).length, 0)
  if (!isLong) return
  await Bun.sleep(waitSeconds * 1_000 + 500)
  expect('let through in the next window', await letThrough(api, 12), 10)
}

/** The days around a moment, as a query. */
function daysAbout(now: number): string {
  const dateOf = (at: number) => new Date(at).toISOString().slice(0, 10)
  return `from=${dateOf(now - 24 * hourMs)}&to=${dateOf(now + 24 * hourMs)}`
}

/** How many times a server's clock is set while it starts. */
const starts = { short: 2, long: 40 }

/** All threads go by the same time, even if the wall clock is set between their starts. */
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
