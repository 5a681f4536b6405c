import { SeededRandom } from '../../../src/cli/demo/random.ts'
import { hourMs, minuteMs } from '../../../src/core/durations.ts'
import { apiOf, type Server, Workplace, withTour } from '../../../test/support/binary.ts'
import { type Entry, type Ledger, none, type Torture } from '../ledger.ts'
import { FakeClock, fakeTimeLibrary } from '../power/fake-time.ts'

const title = 'Clocks'

/** How often a server's clock is set while it starts. */
const starts = { short: 3, long: 40 }

/** By how much it is set while the server serves, milliseconds; the last is a second that comes twice. */
const steps = {
  short: [hourMs, -hourMs, -1_000],
  long: [hourMs, -hourMs, -hourMs, hourMs, 24 * hourMs, -24 * hourMs, -1_000],
}

/** A zone, and a day in autumn 2026 on which its clocks change there. */
const changes = [
  ['Europe/Berlin', '2026-10-25'],
  ['America/New_York', '2026-11-01'],
  // By half an hour.
  ['Australia/Lord_Howe', '2026-10-04'],
  // At midnight: a day that begins at one o'clock, and one on which midnight comes twice.
  ['America/Santiago', '2026-09-06'],
  ['Africa/Cairo', '2026-10-29'],
] as const

const noon = Date.UTC(2026, 10, 20, 12)

/** What the stages have in common: a place, a clock, and what was found against a promise. */
interface Stage {
  place: Workplace
  clock: FakeClock
  random: SeededRandom
  isLong: boolean
}

/**
 * Sets the wall clock of the running executable: while it starts, by an hour either way, in a leap
 * second, and over days on which zones change theirs.
 */
export async function clocks({ isLong, seed }: Torture): Promise<Ledger> {
  const library = fakeTimeLibrary()
  if (library === null) {
    const value = 'there is no libfaketime on this machine (Debian: faketime)'
    return { title, entries: [{ what: 'not tried', value }] }
  }
  const stages = {
    'a clock set while the server starts: not ready, or limits inexact': setWhileStarting,
    'a clock set by an hour or a leap second: promises broken': setWhileServing,
    'a second told twice at the end of a year: events or days wrong': leapSecond,
    'days on which zones change their clocks: days wrong': changedDays,
  }
  const entries: Entry[] = []
  const notes: string[] = []
  for (const [what, stage] of Object.entries(stages)) {
    const place = new Workplace()
    try {
      const clock = new FakeClock(library, place.folder)
      const random = new SeededRandom(`clocks ${seed}`)
      const found = await stage({ place, clock, random, isLong })
      entries.push(none(what, found.length))
      notes.push(...found.slice(0, 5))
    } finally {
      await place.close()
    }
  }
  return { title, entries, notes }
}

/** Collects what is not as it should be. */
class Findings {
  readonly all: string[] = []

  expect(what: string, found: unknown, expected: unknown): void {
    if (Bun.deepEquals(found, expected)) return
    this.all.push(`${what}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`)
  }
}

type Api = ReturnType<typeof apiOf>

/** How many of so many heartbeats were let through. */
async function letThrough(api: Api, count: number): Promise<number> {
  let admitted = 0
  for (let i = 0; i < count; i++) if ((await api('GET', '/heartbeat')).status === 200) admitted++
  return admitted
}

async function setWhileStarting({ place, clock, random, isLong }: Stage): Promise<string[]> {
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

async function setWhileServing({ place, clock, isLong }: Stage): Promise<string[]> {
  const findings = new Findings()
  const server = await place.serve(['--threads', '2'], clock.env)
  for (const [i, byMs] of (isLong ? steps.long : steps.short).entries()) {
    await setOnce({ place, clock, server, findings, byMs, name: `Step ${i}`, isLong })
  }
  await server.end()
  const rebuilt = await place.json<{ changed: number }>(['rebuild'], clock.env)
  findings.expect('flows that a rebuild changes', rebuilt.changed, 0)
  return findings.all
}

interface Setting {
  place: Workplace
  clock: FakeClock
  server: Server
  findings: Findings
  byMs: number
  name: string
  isLong: boolean
}

/** Sets the clock once, in the middle of what an organisation of its own does. */
async function setOnce({ place, clock, server, findings, byMs, name, isLong }: Setting) {
  const expect = (what: string, found: unknown, expected: unknown) =>
    findings.expect(`${name} (${byMs / 1_000} s), ${what}`, found, expected)
  const { slug, snippetKey } = await withTour(place, name)
  const tokenFor = async (time: string) => {
    const args = ['token', 'issue', '--org', slug, '--for', time]
    return (await place.json<{ token: string }>(args, clock.env)).token
  }
  const tokens = { short: await tokenFor('30m'), long: await tokenFor('3h') }
  const api = apiOf(server, snippetKey)
  const { flows } = (await (await api('GET', '/flows')).json()) as { flows: { id: string }[] }
  const flowId = flows[0]!.id
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
  const unnamed = Array.from({ length: 50 }, (_, i) => ({ ...event, userId: `u${i}` }))

  expect('let through before', await letThrough(api, 10), 10)
  expect('accepted before', (await send(unnamed)).accepted, 50)
  expect('ticked', await tick(true), true)
  const before = clock.now()
  clock.setBy(byMs)

  const refused = await api('GET', '/heartbeat')
  const waitSeconds = Number(refused.headers.get('retry-after'))
  expect('the eleventh heartbeat', refused.status, 429)
  expect('seconds to wait are of one window', waitSeconds > 30 && waitSeconds <= 60, true)
  const resetIn = Number(refused.headers.get('x-ratelimit-reset')) - clock.now() / 1_000
  expect('the reset is as far ahead', Math.abs(resetIn - waitSeconds) <= 2, true)
  expect('accepted after', (await send(unnamed)).accepted, 50)
  const late = { ...event, userId: 'bob', id: 'late', occurredAt: clock.now() + 10 * minuteMs }
  expect('accepted of the future', (await send([late])).accepted, 1)
  const skewed = { ...event, userId: 'cat', id: 'skewed', occurredAt: before }
  const { skewMs } = await send([skewed], { sentAt: before })
  expect('the skew is what the clock was set by', Math.abs(Number(skewMs) - byMs) < 5_000, true)
  expect('ticked after it was taken back', await tick(false), false)

  const ask = async (path: string, token = tokens.long) =>
    apiOf(server, token)('GET', `/flows/${flowId}/analytics${path}`)
  expect(
    'a token of half an hour',
    (await ask('', tokens.short)).status,
    byMs > hourMs / 2 ? 401 : 200,
  )
  const dates = '?from=2020-01-01&to=2020-01-02'
  expect('dates without runs', await startsOn(await ask(dates)), [0, 0])
  const rows = await rowsOf(await ask(`/export.csv?rows=events&${daysAbout(clock.now())}`))
  expect('ids told apart', new Set(rows.map(({ id }) => id)).size, rows.length)
  const times = rows.map(({ received_at }) => Date.parse(received_at!))
  const isBefore = times.map(at => Math.abs(at - before) < Math.abs(at - clock.now()))
  if (Math.abs(byMs) > minuteMs) {
    const places = isBefore.lastIndexOf(true) + 1
    expect('receipts before the step come first', places, isBefore.filter(Boolean).length)
  }
  // A tick is later than the one before it, whatever the clock says; nothing else is ahead of it.
  const isAhead = ({ kind, occurred_at, received_at }: Row) =>
    !kind!.startsWith('item_') && occurred_at! > received_at!
  expect('occurred after their receipt', rows.filter(isAhead).length, 0)
  if (!isLong) return
  await Bun.sleep(waitSeconds * 1_000 + 500)
  expect('let through in the next window', await letThrough(api, 12), 10)
}

/** The days about a moment, as a query. */
function daysAbout(now: number): string {
  const dateOf = (at: number) => new Date(at).toISOString().slice(0, 10)
  return `from=${dateOf(now - 24 * hourMs)}&to=${dateOf(now + 24 * hourMs)}`
}

type Row = Partial<Record<string, string>>

/** The rows of an export, by column; none of these texts is quoted. */
async function rowsOf(answer: Response): Promise<Row[]> {
  const [head = [], ...rows] = (await answer.text())
    .trim()
    .split('\r\n')
    .map(line => line.split(','))
  return rows.map(row => Object.fromEntries(head.map((name, i) => [name, row[i]!])))
}

/** The runs that started on each day of an answer's range. */
async function startsOn(answer: Response): Promise<number[]> {
  const { daily } = (await answer.json()) as { daily?: { starts: number }[] }
  return (daily ?? []).map(({ starts }) => starts)
}

async function leapSecond({ place, clock }: Stage): Promise<string[]> {
  const findings = new Findings()
  const { snippetKey } = await withTour(place)
  const newYear = Date.UTC(2027, 0, 1)
  clock.setTo(newYear - 3_000)
  const server = await place.serve([], clock.env)
  const { token } = await place.json<{ token: string }>(['token', 'issue'], clock.env)
  const api = apiOf(server, snippetKey)
  const { flows } = (await (await api('GET', '/flows')).json()) as { flows: { id: string }[] }
  const flowId = flows[0]!.id
  clock.setTo(newYear - 700)
  let isRepeated = false
  let sent = 0
  while (!isRepeated || clock.now() < newYear + 500) {
    if (!isRepeated && clock.now() > newYear - 100) {
      clock.setBy(-1_000)
      isRepeated = true
    }
    const number = sent++
    // As RFC 3339 writes the second that is not in a day.
    const time = number % 10 === 9 ? { occurredAt: '2026-12-31T23:59:60Z' } : {}
    const event = { id: `e${number}`, kind: 'flow_started', userId: `u${number}`, flowId, ...time }
    const body = { events: [event] }
    const answer = (await (await api('POST', '/events', body)).json()) as { accepted: number }
    findings.expect(`event ${number} accepted`, answer.accepted, 1)
    await Bun.sleep(20)
  }
  const analyst = apiOf(server, token)
  const range = 'from=2026-12-31&to=2027-01-01'
  const days = await startsOn(await analyst('GET', `/flows/${flowId}/analytics?${range}`))
  findings.expect('runs of both days', days[0]! + days[1]!, sent)
  const rows = await rowsOf(
    await analyst('GET', `/flows/${flowId}/analytics/export.csv?rows=events&${range}`),
  )
  const old = rows.filter(({ occurred_at }) => occurred_at!.startsWith('2026')).length
  findings.expect('runs of the old year are those that occurred in it', days[0], old)
  await server.end()
  findings.expect(
    'a rebuild changes',
    (await place.json<{ changed: number }>(['rebuild'])).changed,
    0,
  )
  return findings.all
}

async function changedDays({ place, clock }: Stage): Promise<string[]> {
  const findings = new Findings()
  const { slug, snippetKey } = await withTour(place)
  await place.run(['org', 'limits', slug, '--events', '100000'])
  clock.setTo(noon)
  // The zone of the machine has no say.
  const server = await place.serve([], { ...clock.env, TZ: 'America/Santiago' })
  const { token } = await place.json<{ token: string }>(['token', 'issue'], clock.env)
  const api = apiOf(server, snippetKey)
  const { flows } = (await (await api('GET', '/flows')).json()) as { flows: { id: string }[] }
  const flowId = flows[0]!.id
  const moments = new Set<number>()
  for (const [, date] of changes) {
    const middle = Date.parse(`${date}T12:00:00Z`)
    for (let at = middle - 48 * hourMs; at < middle + 48 * hourMs; at += 15 * minuteMs)
      moments.add(at)
  }
  const events = [...moments].map(occurredAt => {
    return {
      id: `e${occurredAt}`,
      kind: 'flow_started',
      userId: `u${occurredAt}`,
      flowId,
      occurredAt,
    }
  })
  for (let from = 0; from < events.length; from += 50) {
    const body = { events: events.slice(from, from + 50) }
    findings.expect('sent', (await api('POST', '/events', body)).status, 202)
  }
  for (const [zone, date] of changes) {
    const dateOf = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' })
    const day = Date.parse(`${date}T00:00:00Z`)
    const days = [-1, 0, 1].map(n => new Date(day + n * 24 * hourMs).toISOString().slice(0, 10))
    const expected = days.map(one => [...moments].filter(at => dateOf.format(at) === one).length)
    const query = `from=${days[0]}&to=${days[2]}&timezone=${zone}`
    const answer = await apiOf(server, token)('GET', `/flows/${flowId}/analytics?${query}`)
    findings.expect(`${zone} about ${date}`, await startsOn(answer), expected)
    const hours = expected.map(count => count / 4)
    if (hours.every(count => count === 24)) findings.all.push(`${zone} changes nothing on ${date}`)
  }
  await server.end()
  return findings.all
}
