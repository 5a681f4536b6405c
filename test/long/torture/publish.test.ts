import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { until } from '../../../scripts/support/until.ts'
import {
  Editors,
  editedIn,
  faultsOfPublications,
  type Publication,
  type PublicationFaults,
} from '../../../scripts/torture/editors.ts'
import { broken } from '../../../scripts/torture/ledger.ts'
import { publish } from '../../../scripts/torture/parts/publish.ts'
import { SeededRandom } from '../../../src/cli/demo/random.ts'
import { Workplace } from '../../support/binary.ts'

test('a publication leaves both its version and its line in the audit log, or neither', async () => {
  expect(broken(await publish({ isLong: false, seed: 1 }))).toEqual([])
}, 600_000)

/** A kit that cannot fail proves nothing: it must see each kind of damage. */

const place = new Workplace()
const told: Publication[] = []
let database: Database
beforeAll(async () => {
  const all = await editedIn(place, ['Acme'])
  const server = await place.serve(['--threads', '2'])
  const editors = new Editors(place, server, all, new SeededRandom('editors'), told)
  const hasBoth = () => ['token', 'command line'].every(way => told.some(isAnswered(way)))
  await until(hasBoth)
  await editors.stop()
  await server.end()
  database = new Database(join(place.folder, 'cairn-data', 'cairn.db'))
}, 300_000)
afterAll(async () => {
  database.close()
  await place.close()
})

const isAnswered = (way: string) => (one: Publication) => one.via === way && one.version !== null

test('the kit finds nothing if nothing is damaged', () => {
  const none = { lost: 0, unsaid: 0, unmade: 0, misnamed: 0, gaps: 0 }
  expect(faultsOfPublications(database, told)).toEqual(none)
})

const lines = 'org_id, at, via, actor, request_id, action, subject, before, after, note'

test.each<[fault: keyof PublicationFaults, damage: string]>([
  ['lost', "update flow_versions set body = json_set(body, '$.name', 'Another')"],
  ['unsaid', "delete from audit_log where action like 'flow.%'"],
  ['unsaid', `insert into audit_log (${lines}) select ${lines} from audit_log`],
  ['unmade', 'delete from flow_versions'],
  ['misnamed', "update audit_log set via = 'dashboard'"],
  ['misnamed', 'update audit_log set request_id = null'],
  ['gaps', 'update flow_versions set version = version + 1000000 where version = 1'],
])('the kit finds what is %s after: %s', (fault, damage) => {
  database.run('begin')
  database.run(damage)
  const found = faultsOfPublications(database, told)
  database.run('rollback')
  expect(found[fault]).toBeGreaterThan(0)
})
