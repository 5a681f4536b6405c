import { hourMs, minuteMs } from '../../../src/core/time/durations.ts'
import { apiOf, firstFlowOf, sessionToken, withUnlimitedTour } from '../../support/binary.ts'
import { Findings, type Stage, startsOn } from './stage.ts'

/** A time zone, and a day in autumn 2026 on which its clocks change. */
const changes = [
  ['Europe/Berlin', '2026-10-25'],
  ['America/New_York', '2026-11-01'],
  // By half an hour.
  ['Australia/Lord_Howe', '2026-10-04'],
  // At midnight: one day begins at one o'clock, and on another midnight comes twice.
  ['America/Santiago', '2026-09-06'],
  ['Africa/Cairo', '2026-10-29'],
] as const

const noon = Date.UTC(2026, 10, 20, 12)

/** Runs must belong to the days on which another calendar puts them, which have 23 to 25 hours. */
export async function changedDays({ place, clock }: Stage): Promise<string[]> {
  const findings = new Findings()
  const { slug, snippetKey } = await withUnlimitedTour(place)
  clock.setTo(noon)
  // The time zone of the machine must not matter.
  const server = await place.serve([], { ...clock.env, TZ: 'America/Santiago' })
  const token = await sessionToken(place, slug, [], clock.env)
  const api = apiOf(server, snippetKey)
  const { id: flowId } = await firstFlowOf(api)
  const moments = new Set<number>()
  for (const [, date] of changes) {
    const middle = Date.parse(`${date}T12:00:00Z`)
    for (let at = middle - 48 * hourMs; at < middle + 48 * hourMs; at += 15 * minuteMs)
      moments.add(at)
  }
  const event = { kind: 'flow_started', flowId }
  const events = [...moments].map(at => ({ ...event, userId: `u${at}`, occurredAt: at }))
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
