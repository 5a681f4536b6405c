import { afterAll, beforeAll, expect } from 'bun:test'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../../../scripts/support/until.ts'
import { isPassingFault, Postgres } from '../../../../src/storage/postgres/database/connection.ts'
import {
  type DatabaseUnusable,
  inspectDatabase,
} from '../../../../src/storage/postgres/database/inspection.ts'
import { schemaVersion } from '../../../../src/storage/postgres/database/migrate.ts'
import { freePort } from '../../../support/identity-provider.ts'
import { describe, PostgresServer, test } from '../../../support/postgres.ts'

const tls = join(import.meta.dir, '../../../fixtures/tls')
const password = 'hush/hush'

/** Why a database is refused. No reason contains the password. */
async function refusalOf(url: string, how = {}): Promise<DatabaseUnusable> {
  const fault = await inspectDatabase(url, Date.now, how).then(
    () => new Error('it is not refused'),
    error => error,
  )
  expect(fault.name).toBe('DatabaseUnusable')
  expect(fault.message).not.toMatch(/hush|wrong/)
  return fault
}

describe('a database is inspected before it is used', () => {
  let server: PostgresServer
  let url: string
  beforeAll(async () => {
    server = await PostgresServer.open()
    url = await server.newDatabase()
    await server.ask(`create role ann login password '${password}'`)
    server.write('pg_hba.conf', 'host all ann all scram-sha-256\nhost all all all trust\n')
    await server.reload()
  })
  afterAll(() => server?.close())

  const nameOf = (address: string) => new URL(address).pathname.slice(1)
  const urlFor = (user: string, secret = '', of = url) => server.url(nameOf(of), user, secret)

  test('and its properties are reported', async () => {
    const seen = await inspectDatabase(url, Date.now)
    expect(seen).toMatchObject({
      place: `127.0.0.1:${server.port}/${nameOf(url)}`,
      schema: schemaVersion,
      isEncrypted: false,
      fsync: false,
      fullPageWrites: true,
      synchronousCommit: 'on',
      synchronousStandbys: '',
      followers: 0,
      mostClients: 97,
    })
    expect(Number(seen.version.split('.')[0])).toBeGreaterThanOrEqual(15)
    expect(seen.clients).toBeGreaterThanOrEqual(1)
    expect(seen.tookMs).toBeGreaterThan(0)
    // The same clock, and one that is an hour behind or ahead.
    expect(Math.abs(seen.aheadMs)).toBeLessThan(1_000)
    for (const hour of [-3_600_000, 3_600_000]) {
      const { aheadMs } = await inspectDatabase(url, () => Date.now() + hour)
      expect(aheadMs / -hour).toBeCloseTo(1, 2)
    }
  })

  test('and any user can see whether a standby that commits wait for is there', async () => {
    const primary = await PostgresServer.open()
    const standby = await primary.standby('b')
    try {
      await primary.ask('create role ann login')
      const own = nameOf(await primary.emptyDatabase('owner ann'))
      await primary.waitFor('b')
      const look = () => inspectDatabase(primary.url(own, 'ann'), Date.now, { isToMigrate: true })
      expect(await look()).toMatchObject({ synchronousStandbys: 'ANY 1 (b)', followers: 1 })
      await standby.close()
      await until(look, ({ followers }) => followers === 0)
    } finally {
      await standby.close()
      await primary.close()
    }
  })

  describe('and rejected, with advice, if', () => {
    test('nobody listens', async () => {
      const port = await freePort()
      const fault = await refusalOf(`postgres://ann:hush@127.0.0.1:${port}/cairn`)
      expect(fault.message).toBe(
        `the database at 127.0.0.1:${port}/cairn accepts no connections: start it, or correct the address`,
      )
      expect(fault.mayPass).toBe(true)
    })

    test('another program listens', async () => {
      const other = Bun.listen({
        hostname: '127.0.0.1',
        port: 0,
        socket: { data: socket => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n') },
      })
      const { message } = await refusalOf(
        `postgres://ann:hush@127.0.0.1:${other.port}/cairn?sslmode=require`,
      )
      expect(message).toContain('is no PostgreSQL: correct the address')
      other.stop(true)
    })

    const wrongUser = 'refuses the user or the password: correct them'
    test.each<[what: string, address: () => string, advice: string]>([
      [
        'its host is unknown',
        () => 'postgres://ann:hush@nowhere.invalid/cairn',
        'nowhere.invalid:5432/cairn is unknown: correct its name',
      ],
      ['the password is wrong', () => urlFor('ann', 'wrong'), wrongUser],
      ['the password is missing', () => urlFor('ann'), wrongUser],
      ['there is no such user', () => urlFor('nobody'), wrongUser],
      [
        'there is no such database',
        () => server.url('nothing'),
        '/nothing does not exist: make it by "create database nothing',
      ],
      [
        'it knows no parameter of that name',
        () => `${url}?zzz=hush`,
        'does not know the setting "zzz" of the address: correct what stands in it behind the question mark',
      ],
      ['it takes no TLS', () => `${url}?sslmode=require`, 'takes no TLS: turn "ssl" on there'],
      [
        'a file that the address names is missing',
        () => `${url}?sslmode=verify-full&sslrootcert=/nowhere.pem`,
        'files that it names must be readable PEM files',
      ],
      [
        'the tables belong to another user',
        () => urlFor('ann', password),
        "has tables that are not this user's (ann): connect as their owner (cairn)",
      ],
    ])('%s', async (_, address, advice) => {
      const { message, mayPass } = await refusalOf(address())
      expect(message).toContain(advice)
      if (advice === wrongUser) expect(mayPass).toBe(false)
    })

    test('it is full', async () => {
      await server.ask('create role tom login connection limit 0')
      const fault = await refusalOf(urlFor('tom'))
      expect(fault.message).toContain('has no room for another client: raise its max_connections')
      expect(fault.mayPass).toBe(true)
    })

    test('it is too old', async () => {
      // The server reports another version to this user.
      await server.ask(
        `
        create schema past;
        create function past.current_setting(name text) returns text language sql as $$
          select case name when 'server_version' then '14.9' when 'server_version_num' then '140009'
            else pg_catalog.current_setting(name) end $$;
        create role old login superuser;
        alter role old set search_path = past, pg_catalog, public`.replaceAll('\n', ' '),
        url,
      )
      const { message } = await refusalOf(urlFor('old'))
      expect(message).toContain('is PostgreSQL 14.9: upgrade it to 15 or newer')
    })

    test('it cannot hold all texts', async () => {
      const latin = await server.emptyDatabase("encoding 'LATIN1' template template0")
      const { message } = await refusalOf(latin)
      expect(message).toContain('has the encoding LATIN1, which cannot hold all texts')
      expect(message).toContain('template template0')
    })

    test('it is read-only', async () => {
      const other = await server.newDatabase()
      await server.ask(`alter database ${nameOf(other)} set default_transaction_read_only = on`)
      const { message } = await refusalOf(other)
      expect(message).toContain('is read-only (default_transaction_read_only): set that to off')
    })

    test('it has no tables, unless it is to be migrated', async () => {
      const empty = await server.emptyDatabase()
      expect((await refusalOf(empty)).message).toContain('has no tables yet: run "cairn migrate"')
      expect(await inspectDatabase(empty, Date.now, { isToMigrate: true })).toMatchObject({
        schema: 0,
      })
    })

    test('somebody else has tables of the same names', async () => {
      const other = await server.emptyDatabase()
      await server.ask('create table boats (mine text)', other)
      expect(await inspectDatabase(other, Date.now, { isToMigrate: true })).toMatchObject({
        schema: 0,
      })
      await server.ask('create table events (mine text)', other)
      for (const how of [{}, { isToMigrate: true }]) {
        const { message } = await refusalOf(other, how)
        expect(message).toContain(
          "has tables that are not Cairn's and have the names of its own (events)",
        )
      }
    })

    test('an older or a newer Cairn has migrated it', async () => {
      const other = await server.newDatabase()
      await server.ask(
        `update cairn_migrations set id = id + 1, usable_from = id + 1 where id = ${schemaVersion}`,
        other,
      )
      for (const how of [{}, { isToMigrate: true }]) {
        const { message } = await refusalOf(other, how)
        expect(message).toContain(
          `has schema ${schemaVersion + 1}, and this cairn knows ${schemaVersion}: a newer Cairn has migrated it`,
        )
      }
    })

    test('this user may not create tables', async () => {
      const empty = await server.emptyDatabase()
      const asAnn = urlFor('ann', password, empty)
      const { message } = await refusalOf(asAnn, { isToMigrate: true })
      expect(message).toContain(
        `make it the owner: alter database "${nameOf(empty)}" owner to "ann"`,
      )
      await server.ask(/alter database.*$/.exec(message)![0])
      expect(await inspectDatabase(asAnn, Date.now, { isToMigrate: true })).toMatchObject({
        schema: 0,
      })
    })

    test('it is a standby', async () => {
      await server.stop()
      server.write('standby.signal', '')
      await server.start()
      const { message } = await refusalOf(url)
      rmSync(join(server.dataFolder, 'standby.signal'))
      await server.stop()
      await server.start()
      expect(message).toContain('is a standby, which takes no writes: name its primary')
    })
  })

  describe('with TLS', () => {
    beforeAll(async () => {
      const [key, certificate] = ['self-signed-key', 'self-signed'].map(name =>
        readFileSync(join(tls, `${name}.pem`), 'utf8'),
      )
      server.write('server.key', key!)
      server.write('server.crt', certificate!)
      await server.ask('alter system set ssl = on')
      server.write('pg_hba.conf', 'hostssl all all all trust\n')
      await server.reload()
      await until(() =>
        refusalOf(url).then(
          () => true,
          () => false,
        ),
      )
    })

    test('it is rejected if the address does not ask for it', async () => {
      for (const mode of ['', '?sslmode=disable']) {
        const { message } = await refusalOf(url + mode)
        expect(message).toContain('if it wants TLS, add ?sslmode=verify-full to the address')
      }
    })

    test('it is accepted if the certificate is not checked, or is the one named', async () => {
      const authority = `sslrootcert=${join(tls, 'self-signed.pem')}`
      for (const mode of ['require', 'prefer', `verify-ca&${authority}`]) {
        expect(await inspectDatabase(`${url}?sslmode=${mode}`, Date.now)).toMatchObject({
          isEncrypted: true,
        })
      }
    })

    test('it is rejected if the certificate is not trusted, or has another name', async () => {
      const authority = `sslrootcert=${join(tls, 'self-signed.pem')}`
      for (const mode of ['verify-full', 'verify-ca', `verify-full&${authority}`]) {
        const { message } = await refusalOf(`${url}?sslmode=${mode}`)
        expect(message).toContain('has a certificate that is not trusted')
        expect(message).toContain('add sslrootcert=FILE')
        // A running server meets this when the certificate is replaced, and no row is at fault.
        const postgres = Postgres.open(`${url}?sslmode=${mode}`, { most: 1 })
        const fault = await postgres.all('select 1').catch(error => error)
        await postgres.close()
        expect(isPassingFault(fault)).toBe(true)
      }
    })
  })
})
