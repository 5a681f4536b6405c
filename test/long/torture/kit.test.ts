import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { until } from '../../../scripts/support/until.ts'
import { ticksItem } from '../../../scripts/torture/load/requests.ts'
import { type Faults, faultsOf } from '../../../scripts/torture/load/stored.ts'
import { Site } from '../../../scripts/torture/site.ts'
import { SeededRandom } from '../../../src/cli/demo/random.ts'

/** A kit that cannot fail proves nothing: it must see each kind of damage. */

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
  const isPublished = (way: string) => publications.some(one => one.via === way && one.version)
  const hasTick = [...items.event.acknowledged].some(ticksItem)
  return isNowhereEmpty && hasTick && isPublished('token') && isPublished('command line')
}

/** What the kit sees of the first organisation after a damage, which is then rolled back. */
function faultsAfter(damage: string): Faults {
  database.run('begin')
  database.run(damage)
  const found = faultsOf(database, site.tenants[0]!)
  database.run('rollback')
  return found
}

/** Selects the first batch that the organisation has from a source (`eventSources`). */
const batch = (source: number) =>
  `seq = (select min(seq) from event_batches where org_id = 1 and source = ${source})`
const columns = 'org_id, received_at, later, source, events, facts, details'
const lines = 'org_id, at, via, actor, request_id, action, subject, before, after, note'

test('undamaged data has no fault', () => {
  const found = faultsAfter('delete from server_state where false')
  expect(Object.values(found).every(count => count === 0)).toBe(true)
})

test.each<[fault: keyof Faults, damage: string]>([
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
  ['lostPublications', "update flow_versions set body = json_set(body, '$.name', 'Another')"],
  ['unaudited', "delete from audit_log where action like 'flow.%'"],
  ['unaudited', `insert into audit_log (${lines}) select ${lines} from audit_log`],
  ['madeUp', 'delete from flow_versions'],
  ['misattributed', "update audit_log set via = 'dashboard'"],
  ['misattributed', 'update audit_log set request_id = null'],
  ['gaps', 'update flow_versions set version = version + 1000000 where version = 1'],
])('the kit finds what is %s after: %s', (fault, damage) => {
  expect(faultsAfter(damage)[fault]).toBeGreaterThan(0)
})
