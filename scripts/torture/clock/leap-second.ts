import { apiOf, firstFlowOf, sessionToken, withTour } from '../../support/binary.ts'
import { Findings, rowsOf, type Stage, startsOn } from './stage.ts'

/** The last second of a year comes twice. */
export async function leapSecond({ place, clock }: Stage): Promise<string[]> {
  const findings = new Findings()
  const { slug, snippetKey } = await withTour(place)
  const newYear = Date.UTC(2027, 0, 1)
  clock.setTo(newYear - 3_000)
  const server = await place.serve([], clock.env)
  const token = await sessionToken(place, slug, [], clock.env)
  const api = apiOf(server, snippetKey)
  const { id: flowId } = await firstFlowOf(api)
  clock.setTo(newYear - 700)
  let isRepeated = false
  let sent = 0
  while (!isRepeated || clock.now() < newYear + 500) {
    if (!isRepeated && clock.now() > newYear - 100) {
      clock.setBy(-1_000)
      isRepeated = true
    }
    const number = sent++
    // Written as RFC 3339 writes a leap second.
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
