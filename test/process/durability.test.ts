import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { apiOf, Workplace, withTour } from '../support/binary.ts'
import { storedEvents } from '../support/ledger.ts'

const place = new Workplace()
afterAll(() => place.close())

/** How often the server is killed; more in a long run. */
const kills = Number(process.env.CAIRN_TEST_KILLS ?? 5)

test('whatever was acknowledged is there once after SIGKILL; what is sent again is a duplicate', async () => {
  const { slug, snippetKey } = await withTour(place)
  await place.run(['org', 'limits', slug, '--events', '1000000'])
  const acknowledged = new Set<string>()
  const sent = new Set<string>()
  let next = 0

  for (let kill = 0; kill < kills; kill++) {
    const server = await place.serve(['--threads', '2'])
    const api = apiOf(server, snippetKey)
    let isOver = false
    const client = async () => {
      while (!isOver) {
        const ids = Array.from({ length: 10 }, () => `event-${next++}`)
        // Some of an earlier batch again, as a client does that had no answer.
        const again = [...sent].slice(-3)
        for (const id of ids) sent.add(id)
        const events = [...ids, ...again].map(id => ({
          id,
          kind: 'custom',
          name: 'x',
          userId: 'u',
        }))
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
  expect([...ids].filter(id => !sent.has(id))).toEqual([])
  database.close()
}, 120_000)
