import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'bun:test'
import { judgePostgres } from '../../src/cli/doctor/postgres.ts'
import {
  type DatabaseSeen,
  DatabaseUnusable,
  inspectDatabase,
} from '../../src/storage/log/postgres/inspection.ts'
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

  const where = (url: string) => url.replace(/^.*@|\?.*$/g, '')

  describe('is rejected, with what to do,', () => {
    const unusable = async (url: string) => {
      const error = await inspectDatabase(url, Date.now).catch((error: unknown) => error)
      expect(error).toBeInstanceOf(DatabaseUnusable)
      const { message } = error as DatabaseUnusable
      expect(message).toContain(where(url))
      expect(message).not.toContain('hush')
      return message
    }
    const nameOf = (url: string) => new URL(url).pathname.slice(1)

    test('if it does not exist, or nothing listens there', async () => {
      const absent = server.url('nothing', 'cairn', 'hush')
      expect(await unusable(absent)).toMatch(/does not exist: make it/)
      const silent = absent.replace(/:\d+\//, ':1/')
      expect(await unusable(silent)).toMatch(/does not accept connections: start it/)
    })

    test('if the server takes no TLS, or not this user', async () => {
      const url = await server.emptyDatabase()
      expect(await unusable(`${url}?sslmode=require`)).toMatch(/does not use TLS/)
      expect(await unusable(server.url(nameOf(url), 'nobody', 'hush'))).toMatch(
        /rejects the user or the password|does not let this user connect/,
      )
    })

    test('if it is read-only', async () => {
      const url = await server.newDatabase()
      await server.ask(`alter database ${nameOf(url)} set default_transaction_read_only = on`)
      expect(await unusable(url)).toMatch(/is read-only/)
    })

    test("if it has another program's tables under Cairn's names", async () => {
      const url = await server.emptyDatabase()
      await server.ask('create table cairn_nodes (id integer)', url)
      expect(await unusable(url)).toMatch(/cairn_nodes\): use a separate database for Cairn/)
    })

    test('if a newer Cairn writes its log', async () => {
      const url = await server.newDatabase()
      await server.ask('update cairn_clock set format = format + 1', url)
      expect(await unusable(url)).toMatch(/nodes of a newer release use it/)
    })

    test('if its data was moved out of it', async () => {
      const url = await server.newDatabase()
      await server.ask("update cairn_clock set moved_to = 'harbor:/data'", url)
      expect(await unusable(url)).toMatch(/was moved to harbor:\/data: serve from there/)
    })

    test('if this user may not make tables there', async () => {
      const url = await server.emptyDatabase()
      await server.ask("create role guest login password 'hush'")
      await server.ask('revoke create on schema public from public', url)
      expect(await unusable(server.url(nameOf(url), 'guest', 'hush'))).toMatch(
        /does not let this user \(guest\) create tables/,
      )
    })

    test('if it is a standby', async () => {
      const standby = await server.standby('b')
      try {
        expect(await unusable(standby.url())).toMatch(/standby|recovery/)
      } finally {
        await standby.close()
      }
    })
  })

  describe('a command over it', () => {
    let url: string
    const env = () => ({ CAIRN_DATABASE_URL: url })
    const run = (...args: string[]) => place.run(args, env())
    beforeEach(async () => {
      url = await server.emptyDatabase()
    })

    test('fails if it is about the files of a server alone, and names what to use instead', async () => {
      await place.json(['org', 'create', 'Acme'], env())
      for (const [args, ...names] of [
        [['backup', 'x.db'], 'pg_dump', 'pgBackRest'],
        [['restore', 'x.db'], 'pg_restore', 'pgBackRest'],
        [['person', 'erase', 'ada', '--org', 'acme', '--yes', '--compact'], '"cairn compact"'],
      ] as [string[], ...string[]][]) {
        const { status, stderr, stdout } = await run(...args)
        expect([args, status, stdout]).toEqual([args, 1, ''])
        for (const name of names) expect(stderr).toContain(name)
      }
    })

    test('compacts a directory, and changes nothing that other directories have', async () => {
      await place.json(['org', 'create', 'Acme'], env())
      expect((await run('compact')).stdout).toMatch(/^Compacted the database from .* to /)
      const lines = await place.json(['audit'], env())
      expect(lines).toEqual(await place.json(['audit', '--data', 'other'], env()))
    })

    test('does not serve a directory that holds data of a server alone', async () => {
      await place.json(['org', 'create', 'Solo'])
      const serve = await run('serve', '--port', '0', '--management-port', '0')
      expect(serve.status).toBe(1)
      expect(serve.stderr).toMatch(/run "cairn move" .* --data\n$/)
      expect(await place.json(['org', 'list'])).toHaveLength(1)
    })

    test('fails if the database is unusable, as a server does, and makes no directory', async () => {
      const hidden = server.url('nothing', 'cairn', 'hush')
      const serve = ['serve', '--port', '0', '--management-port', '0']
      const refusals = []
      for (const args of [serve, ['org', 'list'], ['nodes']]) {
        const { status, stderr } = await place.run(args, { CAIRN_DATABASE_URL: hidden })
        expect(status).toBe(1)
        expect(stderr).toContain('create database nothing')
        expect(stderr).not.toContain('hush')
        refusals.push(stderr)
      }
      expect(new Set(refusals).size).toBe(1)
    })
  })

  describe('cairn doctor', () => {
    const examine = (url: string) =>
      place.run(['doctor', '--port', '0', '--management-port', '0'], { CAIRN_DATABASE_URL: url })

    test('says what the database is, and that a crash of its machine could damage it', async () => {
      const url = await server.newDatabase()
      const { status, stdout } = await examine(url)
      expect(stdout).toContain(`at ${where(url)}\n`)
      expect(stdout).toContain(
        'error    PostgreSQL has fsync off: a crash of its machine can damage all data.\n         Set fsync = on.\n',
      )
      expect(stdout).toContain('ok       Commits wait for the disk; synchronous_commit is on\n')
      expect(status).toBe(1)
    })

    test('says of an empty database that the first node sets it up', async () => {
      const { stdout } = await examine(await server.emptyDatabase())
      expect(stdout).toMatch(/ok +Empty database\. The first server sets it up\.\n/)
    })

    test('warns if the server is set not to wait for its disk', async () => {
      const url = await server.newDatabase()
      const set = (setting: string) =>
        server.ask(`alter database ${new URL(url).pathname.slice(1)} set ${setting}`)
      await set('synchronous_commit = off')
      expect((await examine(url)).stdout).toMatch(
        /warning +A crash loses acknowledged data: synchronous_commit is off\.\n +Set/,
      )
    })

    test('warns if several nodes run without a limits server', async () => {
      const url = await server.newDatabase()
      const addNode = (name: string) =>
        server.ask(
          `insert into cairn_nodes (id, name, release, schema, started_at, lease_until, took_up)
          values ('${name}', '${name}', '1', 1, 0, clock_timestamp() + interval '1 hour', 0)`,
          url,
        )
      await addNode('a')
      expect((await examine(url)).stdout).not.toContain('count requests separately')
      await addNode('b')
      expect((await examine(url)).stdout).toMatch(
        /warning +2 nodes count requests separately, so .*\n +Set CAIRN_LIMITS_URL\.\n/,
      )
    })

    const good: DatabaseSeen = {
      place: 'db.example.com:5432/cairn',
      version: '17.2',
      log: null,
      aheadMs: 0,
      isEncrypted: true,
      fsync: true,
      fullPageWrites: true,
      synchronousCommit: 'on',
      synchronousStandbys: '',
      isArchiving: true,
    }

    test('finds nothing wrong with a good database', () => {
      expect([...judgePostgres(good)].filter(({ status }) => status !== 'ok')).toEqual([])
    })

    test.each<[Partial<DatabaseSeen>, string]>([
      [{ fullPageWrites: false }, 'error: has full_page_writes off'],
      [{ aheadMs: 1_500 }, 'warning: clock of the PostgreSQL machine is 1.5 s ahead of this one'],
      [{ aheadMs: -60_000 }, 'warning: 60.0 s behind'],
      [{ aheadMs: -61_000 }, 'error: The server rejects writes'],
      [{ isEncrypted: false }, 'warning: is not encrypted'],
      [
        { synchronousStandbys: 'ANY 1 (b, c)', synchronousCommit: 'local' },
        'warning: failover loses acknowledged data',
      ],
      [{ synchronousStandbys: 'b', synchronousCommit: 'off' }, 'warning: is off'],
    ])('says of %j: %s', (seen, said) => {
      const bad = [...judgePostgres({ ...good, ...seen })].filter(({ status }) => status !== 'ok')
      expect(bad).toHaveLength(1)
      const [status, part] = said.split(': ')
      expect(bad[0]).toMatchObject({ status, what: expect.stringContaining(part!) })
      expect(bad[0]!.advice).not.toBeNull()
    })

    test('names the standby that a commit waits for, and asks for no TLS on the machine itself', () => {
      const seen = {
        ...good,
        synchronousStandbys: 'b',
        place: '127.0.0.1:5432/cairn',
      }
      const findings = [...judgePostgres({ ...seen, isEncrypted: false })]
      expect(findings.filter(({ status }) => status !== 'ok')).toEqual([])
      expect(findings[1]!.what).toBe('Commits wait for b; synchronous_commit is on')
    })
  })
})
