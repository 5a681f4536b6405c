import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { keepServersOut } from '../../src/runtime/lock.ts'
import { Postgres } from '../../src/storage/postgres/database/connection.ts'
import { CommandLine } from '../support/command-line.ts'
import { describe, PostgresServer, test } from '../support/postgres.ts'
import { PostgresWorld } from '../support/postgres-world.ts'

/** Files that are moved too. */
const kept = {
  'session.key': `${'5e'.repeat(32)}\n`,
  'snippet/snippet-0123456789abcdef.js': '/* an older one: ä */',
}

describe('cairn move', () => {
  let server: PostgresServer
  let place: CommandLine
  let url: string
  let where: string
  beforeAll(async () => {
    server = await PostgresServer.open()
  })
  beforeEach(async () => {
    place = new CommandLine()
    url = await server.newDatabase()
    where = url.replace(/^.*@/, '')
    await place.json(['org', 'create', 'Harbor'])
    writeFileSync(place.path('a.yaml'), 'key: welcome\nsteps: [{ key: hello, title: Hello }]\n')
    await place.json(['flows', 'push', 'a.yaml'])
    await place.json(['flows', 'publish', 'welcome'])
    for (const [name, text] of Object.entries(kept)) {
      mkdirSync(dirname(place.path(`cairn-data/${name}`)), { recursive: true })
      writeFileSync(place.path(`cairn-data/${name}`), text, { mode: 0o600 })
    }
  })
  afterEach(() => place.close())
  afterAll(() => server?.close())

  const move = (...args: string[]) => place.run(['move', ...args], { CAIRN_DATABASE_URL: url })
  const refused = async (...args: string[]) => {
    const { status, stderr, stdout } = await move(...args)
    expect([status, stdout]).toEqual([1, ''])
    return stderr
  }

  test('moves there and back, and says what was moved and what to do next', async () => {
    const data = place.path('cairn-data')
    const flows = await place.json(['flows', 'list'])
    const there = await move()
    expect(there).toEqual({ status: 0, stderr: '', stdout: expect.any(String) })
    const lines = there.stdout.replace(/ in [\d.]+ s: /, ' in 1 s: ').split('\n')
    expect(lines).toEqual([
      `moved ${data} into ${where} in 1 s: 1 organisation, 1 flow, 0 runs, 0 events`,
      'all tables have as many rows on both sides, and the analytics of every flow are the same',
      'start servers with CAIRN_DATABASE_URL set: cairn serve',
      expect.stringContaining(`keep ${data} until they serve well`),
      '',
    ])
    const served = await place.run(['serve', '--port', '0', '--management-port', '0'])
    expect(served).toMatchObject({ status: 1, stdout: '' })
    expect(served.stderr).toContain(
      `was moved into the database at ${where}: set CAIRN_DATABASE_URL`,
    )
    const changed = await place.run(['org', 'rename', 'harbor', 'Elsewhere'])
    expect([changed.status, changed.stderr]).toEqual([1, served.stderr])
    const { stdout: judged } = await place.run(['doctor', '--port', '0', '--management-port', '0'])
    expect(judged).toMatch(/error +the data in .* was moved into the database at .* — set CAIRN/)
    const node = await PostgresWorld.open(url)
    expect(await node.stores.catalogue().organisationByName('harbor')).not.toBeNull()
    await node.close()

    const back = await move('--back', '--data', 'alone', '--json')
    expect(back).toMatchObject({ status: 0, stderr: '' })
    expect(JSON.parse(back.stdout)).toEqual({
      from: where,
      to: place.path('alone'),
      seconds: expect.any(Number),
      resumed: false,
      rows: expect.objectContaining({ organisations: 1, flows: 1, events: 0 }),
    })
    expect(await place.json(['flows', 'list', '--data', 'alone'])).toEqual(flows)
    for (const [name, text] of Object.entries(kept)) {
      expect(readFileSync(place.path(`alone/${name}`), 'utf8')).toBe(text)
    }
    expect(statSync(place.path('alone/session.key')).mode & 0o777).toBe(0o600)
    expect(readdirSync(place.path('alone'))).not.toContain('moving')
  })

  test('needs the address of a database that is migrated', async () => {
    const { status, stderr } = await place.run(['move'])
    expect(status).toBe(2)
    expect(stderr).toContain('set CAIRN_DATABASE_URL to the database')
    url = await server.emptyDatabase()
    expect(await refused()).toContain('has no tables yet: run "cairn migrate"')
  })

  test('refuses a directory without data, one that a server uses, and a second move', async () => {
    expect(await refused('--data', 'nothing')).toContain('there is no Cairn data in nothing')
    const lock = keepServersOut(place.path('cairn-data'))
    expect(await refused()).toContain('a server runs already on')
    lock.release()
    expect((await move()).status).toBe(0)
    expect(await refused()).toContain('this data directory was moved into this database already')
    expect(await refused('--back')).toContain('holds a database already')
  })

  test('a move that came out wrong is reported, and nobody can use its database', async () => {
    const postgres = Postgres.open(url, { most: 1 })
    await postgres.script(
      `create function lose() returns trigger language plpgsql as 'begin return null; end';
      create trigger lose before insert on steps for each row execute function lose()`,
    )
    await postgres.close()
    const said = await refused()
    expect(said).toContain('(steps: 1 rows in the data directory, 0 in the database)')
    expect(said).toContain('no server starts on it')
    expect(await refused()).toContain('came out wrong')
    expect(await refused('--back', '--data', 'alone')).toContain('came out wrong')
  })
})
