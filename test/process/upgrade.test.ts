import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../scripts/support/ports.ts'
import { schemaKnown } from '../../src/storage/sqlite/database/migrate.ts'
import { builtBinary, Workplace } from '../support/binary.ts'
import { otherBuild, withStep } from '../support/other-build.ts'

/** A release whose tables differ from those of this one, over data that this one has written. */

const next = schemaKnown + 1
const step = withStep('create unique index organisations_by_name on organisations (name)')

let source: string
let nextRelease: string
let place: Workplace
let later: Workplace

beforeAll(async () => {
  await builtBinary()
  source = mkdtempSync(join(tmpdir(), 'cairn-next-'))
  nextRelease = await otherBuild(source, [step])
}, 120_000)
afterAll(() => rmSync(source, { recursive: true, force: true }))
beforeEach(async () => {
  place = new Workplace()
  later = new Workplace(async () => nextRelease, place.folder)
  await place.json(['org', 'create', 'Acme'])
})
afterEach(async () => {
  await later.close()
  await place.close()
})

const data = () => join(place.folder, 'cairn-data')

function schemaIn(file = join(data(), 'cairn.db')): number {
  using database = new Database(file)
  expect(database.query('pragma integrity_check').values()).toEqual([['ok']])
  return database.query<{ user_version: number }, []>('pragma user_version').get()!.user_version
}

test('the end of the process while tables are changed leaves the data as it was, and the next start upgrades it', async () => {
  const ports = ['--port', '0', '--management-port', `${await freePort()}`]
  const killed = await later.start(ports, { CAIRN_FAILPOINTS: 'migration_step=exit' })
  expect(await killed.child.exited).toBe(70)
  expect(schemaIn()).toBe(schemaKnown)
  const again = await later.serve()
  expect((await fetch(`${again.managementUrl}/readyz`)).status).toBe(200)
  expect(schemaIn()).toBe(next)
})

test('an upgrade can be undone with a backup, and only a start changes the tables', async () => {
  const backup = join(place.folder, 'before.db')
  expect(await place.run(['backup', backup])).toMatchObject({ status: 0 })
  const failed = await later.run(['org', 'list'])
  expect([failed.status, failed.stderr]).toEqual([
    1,
    expect.stringContaining(`works with ${next}: make a backup with the older release, then start`),
  ])
  expect(schemaIn()).toBe(schemaKnown)
  await (await later.serve()).end()
  expect(schemaIn()).toBe(next)
  const refused = await place.run(['org', 'list'])
  expect([refused.status, refused.stderr]).toEqual([
    1,
    `cairn: the database has schema ${next}, and this cairn works with ${schemaKnown}: run the newer release\n`,
  ])
  expect(await place.run(['restore', backup])).toMatchObject({ status: 0 })
  expect((await place.run(['org', 'list'])).stdout).toContain('acme')
})

test('a change of the tables that fails ends the start with one line and changes nothing', async () => {
  await place.json(['org', 'create', 'Acme', '--slug', 'acme-2'])
  const before = readFileSync(join(data(), 'cairn.db'))
  const { status, stderr } = await later.run(['serve', '--port', '0', '--management-port', '0'])
  expect([status, stderr.split('\n').length]).toEqual([1, 2])
  expect(schemaIn()).toBe(schemaKnown)
  expect(readFileSync(join(data(), 'cairn.db')).equals(before)).toBe(true)
  expect((await place.run(['org', 'list'])).stdout).toContain('acme-2')
})
