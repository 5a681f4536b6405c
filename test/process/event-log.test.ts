import { afterAll, beforeAll, expect, test } from 'bun:test'
import { apiOf, type Server, Workplace, withTour } from '../support/binary.ts'

/** All events of an organisation, as a warehouse fetches them while more arrive. */

const place = new Workplace()
afterAll(() => place.close())

let server: Server
let snippetKey: string
let token: string

beforeAll(async () => {
  ;({ snippetKey } = await withTour(place))
  await withTour(place, 'Other')
  const limits = JSON.stringify({ limits: { events: 1_000_000, manage: 100_000 } })
  await place.run(['api', 'PATCH', '/settings', '--body', limits, '--org', 'acme'])
  ;({ token } = await place.json<{ token: string }>([
    ...['token', 'create', 'Warehouse', '--scope', 'analytics:read', '--org', 'acme'],
  ]))
  server = await place.serve()
}, 300_000)

const batches = 100
const perBatch = 50

test('5,000 events read by 200 while they arrive come once each, in one order', async () => {
  const report = apiOf(server, snippetKey)
  let sent = 0
  const send = async (senders: number) => {
    const sender = async () => {
      while (sent < batches) {
        const batch = sent++
        const events = Array.from({ length: perBatch }, (_, i) => ({
          ...{ id: `${batch}-${i}`, kind: 'custom', name: 'x', userId: `u${i}` },
          properties: { text: 'x'.repeat(100) },
        }))
        expect((await report('POST', '/events', { events })).status).toBe(202)
      }
    }
    await Promise.all(Array.from({ length: senders }, sender))
  }
  const read = apiOf(server, token)
  let isSent = false
  const sending = send(4).then(() => {
    isSent = true
  })
  const told: string[] = []
  let after = ''
  for (;;) {
    const wasSent = isSent
    const response = await read('GET', `/manage/events?limit=200${after}`)
    expect(response.status).toBe(200)
    const text = await response.text()
    const lines = text === '' ? [] : text.trimEnd().split('\n')
    for (const line of lines) told.push((JSON.parse(line) as { id: string }).id)
    if (lines.length > 0) after = `&after=${JSON.parse(lines.at(-1)!).cursor}`
    else if (wasSent) break
  }
  await sending
  expect(told).toHaveLength(batches * perBatch)
  expect(new Set(told).size).toBe(told.length)
  const again = await (await read('GET', '/manage/events')).text()
  expect(
    again
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line).id),
  ).toEqual(told)
}, 300_000)
