import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { until } from '../../../scripts/support/until.ts'
import { Journal } from '../../../scripts/torture/journal.ts'
import { startClients, ticksItem } from '../../../scripts/torture/load.ts'
import { Site } from '../../../scripts/torture/site.ts'
import {
  type ProblemCounts,
  problemNames,
  problemsIn,
  sumOf,
} from '../../../scripts/torture/verdict.ts'
import { SeededRandom } from '../../../src/cli/demo/random.ts'

/** The verdict must find each kind of damage, because a verdict that cannot fail shows nothing. */

let site: Site
let database: Database

beforeAll(async () => {
  site = await Site.open(new SeededRandom('kit'))
  const server = await site.start()
  const load = site.load(server, { isPublishing: true })
  await until(hasAll, Boolean, 300_000)
  await load.stop()
  await server.end()
  database = new Database(site.place.path('cairn-data/cairn.db'))
}, 300_000)
afterAll(async () => {
  database.close()
  await site[Symbol.asyncDispose]()
})

/** The first organisation has an acknowledged item of each kind, an event that ticks, and publications. */
function hasAll(): boolean {
  const { items, publications } = site.tenants[0]!.journal
  const isNowhereEmpty = Object.values(items).every(({ acknowledged }) => acknowledged.size > 0)
  const isPublished = (via: string) => publications.some(one => one.via === via && one.version)
  const hasTick = [...items.event.acknowledged].some(ticksItem)
  return isNowhereEmpty && hasTick && isPublished('token') && isPublished('command line')
}

/** The problems that the verdict finds in the first organisation after a damage, which is then rolled back. */
function problemsAfter(damage: string): ProblemCounts {
  database.run('begin')
  database.run(damage)
  const found = problemsIn(database, site.tenants[0]!)
  database.run('rollback')
  return found
}

/** Selects the first batch that the organisation has from a source (`eventSources`). */
const batch = (source: number) =>
  `seq = (select min(seq) from event_batches where org_id = 1 and source = ${source})`
const columns = 'org_id, received_at, source, events, body'
const lines = 'org_id, at, via, actor, request_id, action, subject, before, after, note'

test('finds nothing wrong with undamaged data', () => {
  expect(sumOf(problemsAfter('delete from server_state where false'))).toBe(0)
})

test('finds an item that is stored although it was rejected', () => {
  const { acknowledged, rejected } = site.tenants[0]!.journal.items.event
  const [id = ''] = acknowledged
  rejected.add(id)
  const found = problemsAfter('delete from server_state where false')
  rejected.delete(id)
  expect(found).toMatchObject({ kept: 1 })
})

const damages: [problem: keyof ProblemCounts, damage: string][] = [
  ['lost', `delete from event_batches where ${batch(0)}`],
  ['lost', `delete from event_batches where ${batch(1)}`],
  ['lost', `delete from event_batches where ${batch(2)}`],
  ['lost', 'delete from step_reports where org_id = 1'],
  ['lost', 'delete from step_fingerprints where org_id = 1'],
  [
    'twice',
    `insert into event_batches (${columns}) select ${columns} from event_batches where ${batch(0)}`,
  ],
  ['unsent', "update step_reports set message = 'made up' where org_id = 1"],
  ['torn', `delete from event_batches where ${batch(3)}`],
  [
    'lostPublications',
    "update flow_versions set definition = json_set(definition, '$.name', 'Another')",
  ],
  ['unaudited', "delete from audit_log where action like 'flow.%'"],
  ['unaudited', `insert into audit_log (${lines}) select ${lines} from audit_log`],
  ['madeUp', 'delete from flow_versions'],
  ['misattributed', "update audit_log set via = 'dashboard'"],
  ['misattributed', 'update audit_log set request_id = null'],
  ['gaps', 'update flow_versions set version = version + 1000000 where version = 1'],
]
for (const [problem, damage] of damages) {
  test(`finds ${problemNames[problem]}, after: ${damage}`, () => {
    expect(problemsAfter(damage)[problem]).toBeGreaterThan(0)
  })
}

test('finds a server that stores again what it has acknowledged', async () => {
  const flows = [{ id: 'flow_x', steps: [{ id: 'step_x' }], checklist: {} }]
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ method }) =>
      method === 'GET' ? Response.json({ flows }) : Response.json({ results: [] }, { status: 202 }),
  })
  const tenant = { snippetKey: 'x', journal: new Journal() }
  const url = `http://127.0.0.1:${server.port}`
  const clients = startClients(tenant, { url }, { clients: 1, random: new SeededRandom('liar') })
  await until(() => tenant.journal.contradictions.length > 0)
  await clients.stop()
  await server.stop(true)
  expect(tenant.journal.contradictions[0]).toContain('stored again')
})
