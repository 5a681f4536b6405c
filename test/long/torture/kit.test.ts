import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { until } from '../../../scripts/support/until.ts'
import { Clients } from '../../../scripts/torture/clients.ts'
import { Diary } from '../../../scripts/torture/diary.ts'
import { Findings } from '../../../scripts/torture/findings.ts'
import { ticksItem } from '../../../scripts/torture/requests.ts'
import { Scene } from '../../../scripts/torture/scene.ts'
import { differences } from '../../../scripts/torture/stored.ts'
import { SeededRandom } from '../../../src/cli/demo/random.ts'

/** A kit that cannot fail proves nothing: it must see each kind of damage. */

let scene: Scene
let database: Database

beforeAll(async () => {
  scene = await Scene.open(new SeededRandom('kit'), new Findings())
  const server = await scene.start()
  const clients = scene.work(server)
  await until(hasAll, Boolean, 300_000)
  await Promise.all(clients.map(each => each.stop()))
  await server.end()
  database = new Database(join(scene.place.folder, 'cairn-data', 'cairn.db'))
}, 300_000)
afterAll(async () => {
  database.close()
  await scene[Symbol.asyncDispose]()
})

/** The first organisation has an acknowledged item of each kind, and an event that ticks. */
function hasAll(): boolean {
  const { pages } = scene.tenants[0]!.diary
  const isNowhereEmpty = Object.values(pages).every(({ acknowledged }) => acknowledged.size > 0)
  return isNowhereEmpty && [...pages.event.acknowledged].some(ticksItem)
}

/** What the kit sees of the first organisation after a damage, which is then rolled back. */
function seenAfter(damage: string) {
  const [{ id, diary }] = scene.tenants as [Scene['tenants'][0]]
  database.run('begin')
  database.run(damage)
  const seen = differences(database, id, diary)
  database.run('rollback')
  return seen
}

/** Selects the first batch that the organisation has from a source (`eventSources`). */
const batch = (source: number) =>
  `seq = (select min(seq) from event_batches where org_id = 1 and source = ${source})`

const columns = 'org_id, received_at, later, source, events, facts, details'

test('undamaged data has no fault', () => {
  const none = { lost: 0, twice: 0, unsent: 0, torn: 0 }
  expect(seenAfter('delete from server_state where false')).toEqual(none)
})

test.each([
  ['events', `delete from event_batches where ${batch(0)}`],
  ['completions', `delete from event_batches where ${batch(1)}`],
  ['ticks', `delete from event_batches where ${batch(2)}`],
  ['health reports', 'delete from step_reports where org_id = 1'],
  ['fingerprints', 'delete from step_fingerprints where org_id = 1'],
])('it sees that %s are gone', (_, damage) => {
  expect(seenAfter(damage).lost).toBeGreaterThan(0)
})

test.each([
  [
    'events',
    `insert into event_batches (${columns}) select ${columns} from event_batches where ${batch(0)}`,
  ],
  [
    'health reports',
    `insert into step_reports (org_id, step_id, version, outcome, at, message)
    select org_id, step_id, version, outcome, at, message from step_reports where org_id = 1`,
  ],
])('it sees that %s are there twice', (_, damage) => {
  expect(seenAfter(damage).twice).toBeGreaterThan(0)
})

test('it sees data that nobody has sent', () => {
  const damage = "update step_reports set message = 'made up' where org_id = 1"
  expect(seenAfter(damage).unsent).toBeGreaterThan(0)
})

test('it sees an event without the tick that follows from it', () => {
  expect(seenAfter(`delete from event_batches where ${batch(3)}`).torn).toBeGreaterThan(0)
})

test('its clients see a server that stores again what it has acknowledged', async () => {
  const liar = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ method }) =>
      method === 'GET'
        ? Response.json({ flows: [{ id: 'flow_x', steps: [{ id: 'step_x' }] }] })
        : Response.json({ results: [] }, { status: 202 }),
  })
  const tenant = { id: 'org_x', slug: 'x', snippetKey: 'x', diary: new Diary() }
  const url = `http://127.0.0.1:${liar.port}`
  const clients = new Clients(tenant, { url }, { clients: 1, random: new SeededRandom('liar') })
  await until(() => tenant.diary.contradictions.length > 0)
  await clients.stop()
  await liar.stop(true)
  expect(tenant.diary.contradictions[0]).toContain('stored again')
})
