import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'bun:test'
import { readdirSync } from 'node:fs'
import { judgePostgres } from '../../src/cli/doctor/postgres-check.ts'
import {
  type DatabaseSeen,
  inspectDatabase,
} from '../../src/storage/postgres/database/inspection.ts'
import { schemaVersion } from '../../src/storage/postgres/database/migrate.ts'
import { migrations } from '../../src/storage/postgres/database/migrations.ts'
import { Workplace } from '../support/binary.ts'
import { CommandLine } from '../support/command-line.ts'
import { describe, PostgresServer, test } from '../support/postgres.ts'

describe('the database that CAIRN_DATABASE_URL names', () => {
  let server: PostgresServer
  let place: CommandLine
  beforeAll(async () => {
    server = await PostgresServer.open()
  })
  beforeEach(() => {
    place = new CommandLine()
  })
  afterEach(() => place.close())
  afterAll(() => server?.close())

  const where = (url: string) => url.replace(/^.*@/, '')

  describe('cairn migrate', () => {
    const migrate = (url: string, ...args: string[]) =>
      place.run(['migrate', ...args], { CAIRN_DATABASE_URL: url })

    test('makes its tables, and the second time there is nothing to do', async () => {
      const url = await server.emptyDatabase()
      const { status, stdout, stderr } = await migrate(url)
      expect([status, stderr]).toEqual([0, ''])
      expect(stdout).toContain(`database  ${where(url)}\nstep 1    first\n`)
      expect(stdout).toEndWith(`schema    ${schemaVersion}, from 0\n`)
      expect(await inspectDatabase(url, Date.now)).toMatchObject({ schema: schemaVersion })
      expect((await migrate(url)).stdout).toBe(
        `nothing to do: the database at ${where(url)} has schema ${schemaVersion}, the newest of this release\n`,
      )
      // It touches no data directory.
      expect(readdirSync(place.folder)).toEqual([])
    })

    test('takes the address from a file, and the tables from the executable', async () => {
      await using elsewhere = new Workplace()
      const url = await server.emptyDatabase()
      await Bun.write(elsewhere.path('secret'), `${url}\n`)
      const file = { CAIRN_DATABASE_URL_FILE: elsewhere.path('secret') }
      expect(await elsewhere.run(['migrate'], file)).toMatchObject({ status: 0, stderr: '' })
      expect(await inspectDatabase(url, Date.now)).toMatchObject({ schema: schemaVersion })
    })

    test('--dry-run only says what it would make', async () => {
      const url = await server.emptyDatabase()
      const { stdout } = await migrate(url, '--dry-run')
      expect(stdout).toEndWith(`schema    0, to become ${schemaVersion}\n`)
      const told = await migrate(url, '--dry-run', '--json')
      const steps = migrations.map(({ id, name }) => ({ id, name }))
      expect(JSON.parse(told.stdout)).toMatchObject({ from: 0, to: schemaVersion, steps })
      await expect(inspectDatabase(url, Date.now)).rejects.toThrow('has no tables yet')
    })

    test.each(['--on-copy', '--no-copy'])('refuses %s', async flag => {
      const { status, stderr } = await migrate(await server.emptyDatabase(), flag)
      expect(status).toBe(2)
      expect(stderr).toContain('--on-copy and --no-copy are about a data directory')
    })

    test('is for the data directory if the setting is missing', async () => {
      const { status, stderr } = await place.run(['migrate'])
      expect(status).toBe(1)
      expect(stderr).toContain('cairn-data')
    })
  })

  describe('cairn doctor', () => {
    const examine = (url: string) =>
      place.run(['doctor', '--port', '0', '--management-port', '0'], { CAIRN_DATABASE_URL: url })

    test('says what the database is, and that a crash of its machine could damage it', async () => {
      const url = await server.newDatabase()
      const { status, stdout } = await examine(url)
      expect(stdout).toContain(`ok       the database at ${where(url)} is PostgreSQL `)
      expect(stdout).toContain(
        'error    the database has fsync off: a crash of its machine can damage all of it — set fsync = on\n',
      )
      expect(stdout).toContain(
        "ok       a commit waits for the database's own disk, and no standby\n",
      )
      expect(stdout).toMatch(/ok +the database takes 97 connections, \d+ of them in use/)
      expect(status).toBe(1)
    })

    test('says what to do before the database can be used', async () => {
      const { status, stdout } = await examine(await server.emptyDatabase())
      expect(stdout).toMatch(/error +the database at \S+ has no tables yet — run "cairn migrate"\n/)
      expect(status).toBe(1)
    })

    test('warns if the server is set not to wait for its disk', async () => {
      const url = await server.newDatabase()
      const set = (setting: string) =>
        server.ask(`alter database ${new URL(url).pathname.slice(1)} set ${setting}`)
      await set('synchronous_commit = off')
      expect((await examine(url)).stdout).toMatch(
        /warning +the database does not wait for its disk \(synchronous_commit is off\).* — set/,
      )
    })

    test('warns if several nodes run without a limits server', async () => {
      const url = await server.newDatabase()
      const addNode = (name: string) =>
        server.ask(
          `insert into nodes (id, name, release, schema, started_at, lease_until, took_up)
          values ('${name}', '${name}', '1', 1, 0, clock_timestamp() + interval '1 hour', 0)`,
          url,
        )
      await addNode('a')
      expect((await examine(url)).stdout).not.toContain('counts requests by itself')
      await addNode('b')
      expect((await examine(url)).stdout).toMatch(
        /warning +2 nodes run, and each node counts requests by itself, so .* — set CAIRN_LIMITS_URL\n/,
      )
    })

    const good: DatabaseSeen = {
      place: 'db.example.com:5432/cairn',
      version: '17.2',
      schema: 1,
      tookMs: 1,
      aheadMs: 0,
      isEncrypted: true,
      fsync: true,
      fullPageWrites: true,
      synchronousCommit: 'on',
      synchronousStandbys: '',
      followers: 0,
      isArchiving: true,
      mostClients: 97,
      clients: 1,
    }

    test('finds nothing wrong with a good database', () => {
      expect(judgePostgres(good, 2).filter(({ status }) => status !== 'ok')).toEqual([])
    })

    test.each<[Partial<DatabaseSeen>, string]>([
      [{ tookMs: 25 }, 'warning: answers in 25.0 ms'],
      [{ fullPageWrites: false }, 'error: has full_page_writes off'],
      [{ aheadMs: 1_500 }, "warning: clock of the database's machine is 1.5 s ahead of this one's"],
      [{ aheadMs: -60_000 }, 'warning: 60.0 s behind'],
      [{ isEncrypted: false }, 'warning: is not encrypted'],
      [{ mostClients: 30 }, 'warning: a node like this one takes up to 30'],
      [
        { synchronousStandbys: 'ANY 1 (b, c)', synchronousCommit: 'local' },
        'warning: does not wait for the standby ANY 1 (b, c)',
      ],
      [{ synchronousStandbys: 'b', synchronousCommit: 'off' }, 'warning: is off'],
      [{ synchronousStandbys: 'b' }, 'error: standby b, but none is connected'],
    ])('says of %j: %s', (seen, said) => {
      const bad = judgePostgres({ ...good, ...seen }, 2).filter(({ status }) => status !== 'ok')
      expect(bad).toHaveLength(1)
      const [status, part] = said.split(': ')
      expect(bad[0]).toMatchObject({ status, what: expect.stringContaining(part!) })
      expect(bad[0]!.advice).not.toBeNull()
    })

    test('counts the connections of every thread of a node', () => {
      const said = (threads: number) =>
        judgePostgres({ ...good, mostClients: 100 }, threads).map(({ what }) => what)
      expect(said(1)).toContainEqual(expect.stringMatching(/up to 23: enough for 4 nodes$/))
      expect(said(8)).toContainEqual(expect.stringMatching(/up to 72$/))
    })

    test('names the standby that a commit waits for, and asks for no TLS on the machine itself', () => {
      const seen = {
        ...good,
        synchronousStandbys: 'b',
        followers: 1,
        place: '127.0.0.1:5432/cairn',
      }
      const findings = judgePostgres({ ...seen, isEncrypted: false }, 2)
      expect(findings.filter(({ status }) => status !== 'ok')).toEqual([])
      expect(findings[1]!.what).toBe('a commit waits for the standby b (synchronous_commit is on)')
    })
  })
})
