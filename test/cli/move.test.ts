import { afterAll, afterEach, beforeAll, beforeEach, expect, spyOn } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { keepServersOut } from '../../src/runtime/lock.ts'
import { PostgresLog } from '../../src/storage/log/postgres/postgres-log.ts'
import { CommandLine } from '../support/command-line.ts'
import { describe, PostgresServer, test } from '../support/postgres.ts'

/** Files that stay in the directory. */
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
    url = await server.emptyDatabase()
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

  const overLog = () => ({ CAIRN_DATABASE_URL: url })
  const move = (...args: string[]) => place.run(['move', ...args], overLog())
  const rejectionOf = async (...args: string[]) => {
    const { status, stderr, stdout } = await move(...args)
    expect([status, stdout]).toEqual([1, ''])
    return stderr
  }

  test('moves there and back, and everything is as it was', async () => {
    const data = place.path('cairn-data')
    const flows = await place.json(['flows', 'list'])
    const there = await move()
    expect(there).toEqual({ status: 0, stderr: '', stdout: expect.any(String) })
    expect(there.stdout).toMatch(
      new RegExp(
        `^Moved ${data} into ${where} in [\\d.]+ s: 1 organisation, 1 flow, 0 events\\.\n`,
      ),
    )
    // Without the database, the directory is served no more.
    const served = await place.run(['serve', '--port', '0', '--management-port', '0'])
    expect(served).toMatchObject({ status: 1, stdout: '' })
    expect(served.stderr).toContain('set CAIRN_DATABASE_URL')
    // Another node begins with an empty directory.
    expect(await place.json(['flows', 'list', '--data', 'second'], overLog())).toEqual(flows)
    await place.json(['org', 'set', 'name', 'Elsewhere', '--data', 'second'], overLog())

    const back = await move('--back', '--json')
    expect(back).toMatchObject({ status: 0, stderr: '' })
    expect(JSON.parse(back.stdout)).toMatchObject({ from: where, to: data })
    const organisations = await place.json(['org', 'list'])
    expect(JSON.stringify(organisations)).toContain('Elsewhere')
    for (const [name, text] of Object.entries(kept)) {
      expect(readFileSync(place.path(`cairn-data/${name}`), 'utf8')).toBe(text)
    }
    const { stderr } = await place.run(['flows', 'list', '--data', 'second'], overLog())
    expect(stderr).toContain(`was moved to `)
  })

  test('takes the data out of the database into an empty directory', async () => {
    const flows = await place.json(['flows', 'list'])
    expect((await move()).status).toBe(0)
    expect((await move('--back', '--data', 'alone')).status).toBe(0)
    expect(await place.json(['flows', 'list', '--data', 'alone'])).toEqual(flows)
  })

  test.each(['before', 'after'])('goes on if it was killed %s the end of the log', async when => {
    const flows = await place.json(['flows', 'list'])
    expect((await move()).status).toBe(0)
    const { end } = PostgresLog.prototype
    const kill = spyOn(PostgresLog.prototype, 'end').mockImplementationOnce(async function (
      this: PostgresLog,
      to,
    ) {
      if (when === 'after') await end.call(this, to)
      throw new Error('killed')
    })
    expect((await move('--back')).status).toBe(1)
    kill.mockRestore()
    // Before the end it is still the directory of a node.
    const { status } = await place.run(['flows', 'list'], overLog())
    expect(status).toBe(when === 'after' ? 1 : 0)
    const alone = await place.run(['flows', 'list'])
    expect(alone.stderr).toContain('"cairn move --back"')
    // Another directory over the same log is not the one that it was moved to.
    if (when === 'after')
      expect(await rejectionOf('--back', '--data', 'b')).toContain('was moved to')
    expect(await move('--back')).toMatchObject({ status: 0, stderr: '' })
    expect(await place.json(['flows', 'list'])).toEqual(flows)
    expect((await place.run(['flows', 'list'], overLog())).stderr).toContain('was moved to')
  })

  test('needs the address of a database', async () => {
    const { status, stderr } = await place.run(['move'])
    expect(status).toBe(2)
    expect(stderr).toContain('set CAIRN_DATABASE_URL to the database')
  })

  test('refuses a directory without data, one that a server uses, and a second move', async () => {
    expect(await rejectionOf('--data', 'nothing')).toContain('no Cairn data in nothing')
    const lock = keepServersOut(place.path('cairn-data'))
    expect(await rejectionOf()).toContain('a server is already running on')
    lock.release()
    expect((await move()).status).toBe(0)
    expect(await rejectionOf()).toContain(`was moved into the database at ${where} already`)
    await place.json(['org', 'create', 'Other', '--data', 'other'])
    expect(await rejectionOf('--data', 'other')).toContain('already holds data of Cairn')
    // It is that of a server alone as before, and no node may fill it anew.
    expect(await place.json(['org', 'list', '--data', 'other'])).toHaveLength(1)
    const asNode = await place.run(['org', 'list', '--data', 'other'], overLog())
    expect(asNode.stderr).toContain('holds the data of a single server')
  })

  test('rejects a directory that follows another database', async () => {
    expect((await move()).status).toBe(0)
    url = await server.emptyDatabase()
    expect(await rejectionOf()).toContain('"cairn move --database-lost"')
    const asNode = await place.run(['flows', 'list'], overLog())
    expect(asNode.stderr).toContain('"cairn move --database-lost"')
  })

  test('begins a new database with a directory whose own is lost', async () => {
    const flows = await place.json(['flows', 'list'])
    expect((await move()).status).toBe(0)
    url = await server.emptyDatabase()
    expect(await move('--database-lost')).toMatchObject({ status: 0, stderr: '' })
    for (const data of ['cairn-data', 'second']) {
      expect(await place.json(['flows', 'list', '--data', data], overLog())).toEqual(flows)
    }
    expect(readFileSync(place.path('second/session.key'), 'utf8')).toBe(kept['session.key'])
  })

  test('takes one direction at a time', async () => {
    const { status, stderr } = await move('--back', '--database-lost')
    expect([status, stderr]).toEqual([2, expect.stringContaining('--database-lost')])
  })

  test('does not take the data out while nodes run', async () => {
    expect((await move()).status).toBe(0)
    await server.ask(
      `insert into cairn_nodes (id, name, release, schema, started_at, lease_until, took_up)
      values ('a', 'harbor:8080', '1', 1, 0, clock_timestamp() + interval '1 hour', 0)`,
      url,
    )
    expect(await rejectionOf('--back')).toContain('servers are running')
  })
})
