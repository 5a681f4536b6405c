import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../scripts/support/ports.ts'
import { until } from '../../scripts/support/until.ts'
import { claimPort } from '../../src/runtime/ports.ts'
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
const backup = () => join(data(), `backups/before-schema-${next}.db`)

function schemaIn(file = join(data(), 'cairn.db')): number {
  using database = new Database(file)
  expect(database.query('pragma integrity_check').values()).toEqual([['ok']])
  return database.query<{ user_version: number }, []>('pragma user_version').get()!.user_version
}

/** Starts the next release, which is held up while it changes the tables, and waits until it says so. */
async function heldUp() {
  const management = await freePort()
  const server = await later.start(['--port', '0', '--management-port', `${management}`], {
    CAIRN_FAILPOINTS: 'migration_step=hang',
  })
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${management}${path}`).catch(() => null)
    return response && { status: response.status, text: await response.text() }
  }
  await until(async () => (await get('/readyz'))?.text.includes('changing the tables'))
  const described = readFileSync(join(data(), 'server.json'), 'utf8')
  return { server, get, port: (JSON.parse(described) as { port: number }).port }
}

describe('while a start changes the tables', () => {
  test('the server is alive but not ready, says why, and holds the port that it was given', async () => {
    const { server, get, port } = await heldUp()
    expect(await get('/readyz')).toEqual({
      status: 503,
      text: expect.stringMatching(/^migrating: changing the tables, \d+ s so far: wait\n$/),
    })
    expect((await get('/healthz'))?.status).toBe(200)
    expect((await get('/metrics'))?.text).toContain('cairn_ready 0')
    expect((await fetch(`http://127.0.0.1:${port}/api/v1/flows`)).status).toBe(503)
    expect(() => claimPort('127.0.0.1', port, '--port')).toThrow('is taken')
    expect(await server.end()).toBe(0)
    expect(server.stdout).toContain('stopped before it was ready')
    expect(schemaIn()).toBe(schemaKnown)
  })

  test('SIGKILL leaves the data as it was, and the next start upgrades it', async () => {
    const { server } = await heldUp()
    await server.end('SIGKILL')
    expect(schemaIn()).toBe(schemaKnown)
    const again = await later.serve()
    expect((await fetch(`${again.managementUrl}/readyz`)).status).toBe(200)
    expect(schemaIn()).toBe(next)
  })
})

test('an upgrade can be undone: the older release names the backup, and runs on it', async () => {
  const failed = await later.run(['org', 'list'])
  expect([failed.status, failed.stderr]).toEqual([
    1,
    expect.stringContaining(`works with ${next}: start the server, which makes a backup of it`),
  ])
  expect(schemaIn()).toBe(schemaKnown)
  await (await later.serve()).end()
  expect([schemaIn(), schemaIn(backup())]).toEqual([next, schemaKnown])
  const refused = await place.run(['org', 'list'])
  expect([refused.status, refused.stderr]).toEqual([
    1,
    `cairn: the database has schema ${next}, and this cairn knows ${schemaKnown}: run the newer release, or give up what was stored since and restore the backup that was made before: cairn restore ${backup()}\n`,
  ])
  expect(await later.run(['restore', backup()])).toMatchObject({ status: 0 })
  expect((await place.run(['org', 'list'])).stdout).toContain('acme')
})

test('a change of the tables that fails ends the start with one line and changes nothing', async () => {
  await place.json(['org', 'create', 'Acme', '--slug', 'acme-2'])
  const before = readFileSync(join(data(), 'cairn.db'))
  const { status, stderr } = await later.run(['serve', '--port', '0', '--management-port', '0'])
  expect([status, stderr.split('\n').length]).toEqual([1, 2])
  expect(schemaIn()).toBe(schemaKnown)
  expect(readFileSync(join(data(), 'cairn.db')).equals(before)).toBe(true)
  expect(existsSync(backup())).toBe(true)
  expect((await place.run(['org', 'list'])).stdout).toContain('acme-2')
})
