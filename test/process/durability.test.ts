import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { apiOf, Workplace, withTour } from '../support/binary.ts'
import { storedEvents } from '../support/ledger.ts'

const place = new Workplace()
afterAll(() => place.close())

/** How often the server is killed; more in a long run. */
const kills = Number(process.env.CAIRN_TEST_KILLS ?? 5)

type Listed = { flows: { id: string }[] }

/** Of ten events in a row five are a run of their own, which a later batch goes on with. */
function eventOf(flowId: string, number: number) {
  const event = { id: `event-${number}`, userId: `user-${number % 70}`, flowId }
  const [batch, place] = [Math.floor(number / 10), number % 10]
  if (place < 5) return { ...event, kind: 'custom', name: 'x' }
  const kind = ['flow_started', 'flow_completed', 'flow_dismissed'][place % 3]
  return { ...event, kind, runId: `run-${place === 9 ? Math.max(0, batch - 30) : batch}` }
}

test('whatever was acknowledged is there once after SIGKILL; what is sent again is a duplicate', async () => {
  const { slug, snippetKey } = await withTour(place)
  await place.run(['org', 'limits', slug, '--events', '1000000'])
  const acknowledged = new Set<string>()
  const sent = new Set<number>()
  let flowId = ''
  let next = 0

  for (let kill = 0; kill < kills; kill++) {
    const server = await place.serve(['--threads', '2'])
    const api = apiOf(server, snippetKey)
    if (!flowId) flowId = ((await (await api('GET', '/flows')).json()) as Listed).flows[0]!.id
    let isOver = false
    const client = async () => {
      while (!isOver) {
        const numbers = Array.from({ length: 10 }, () => next++)
        // Some of an earlier batch again, as a client does that had no answer.
        const again = [...sent].slice(-3)
        for (const number of numbers) sent.add(number)
        const events = [...numbers, ...again].map(number => eventOf(flowId, number))
        const response = await api('POST', '/events', { events }).catch(() => null)
        if (response?.status !== 202) continue
        // The server may die between its headers and its body: then there is no whole answer.
        const body = await response.json().catch(() => null)
        if (!body) continue
        for (const { id } of events) acknowledged.add(id)
      }
    }
    const clients = [client(), client(), client(), client()]
    await Bun.sleep(100 + 50 * kill)
    server.child.kill('SIGKILL')
    isOver = true
    await Promise.all(clients)
    await server.child.exited
  }

  expect(acknowledged.size).toBeGreaterThan(kills * 10)
  const database = new Database(join(place.folder, 'cairn-data', 'cairn.db'))
  expect(database.query('pragma integrity_check').values()).toEqual([['ok']])
  const stored = storedEvents(database)
  const ids = new Set(stored.map(({ id }) => id))
  expect(ids.size).toBe(stored.length)
  expect([...acknowledged].filter(id => !ids.has(id))).toEqual([])
  const sentIds = new Set([...sent].map(number => `event-${number}`))
  expect([...ids].filter(id => !sentIds.has(id))).toEqual([])
  const runs = database.query('select count(*), count(distinct run_key) from runs').values()[0]!
  expect(runs[0]).toBe(runs[1] as number)
  database.close()
  // Runs and completions are what the ledger says, each found again whenever it was gone on with.
  expect(await place.json(['rebuild'])).toMatchObject({ flows: 1, changed: 0 })
}, 120_000)
