import { afterAll, beforeAll, beforeEach, expect } from 'bun:test'
import { Postgres } from '../../../../src/storage/postgres/database/connection.ts'
import {
  isUsable,
  MigrationRefused,
  migratePostgres,
  schemaOf,
  schemaVersion,
} from '../../../../src/storage/postgres/database/migrate.ts'
import { type Migration, migrations } from '../../../../src/storage/postgres/database/migrations.ts'
import { describe, PostgresServer, test } from '../../../support/postgres.ts'

describe("PostgreSQL's schema", () => {
  let server: PostgresServer
  let postgres: Postgres
  beforeAll(async () => {
    server = await PostgresServer.open()
  })
  beforeEach(async () => {
    await postgres?.close()
    postgres = Postgres.open(await server.emptyDatabase(), { most: 4 })
  })
  afterAll(async () => {
    await postgres?.close(true)
    await server?.close()
  })

  /** Every column, as the server describes it. */
  const shape = () =>
    postgres.all(
      `select c.relname, a.attname, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull
      from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace = 'public'::regnamespace and a.attnum > 0 order by 1, a.attnum`,
    )
  const made = () =>
    postgres.all<{ id: number; at: number }>(
      'select id, applied_at as at from cairn_migrations order by id',
    )

  test('is made from nothing, and a second migration does nothing', async () => {
    expect(await schemaOf(postgres)).toBe(0)
    const names = await migratePostgres(postgres, 1)
    expect(names).toHaveLength(schemaVersion)
    expect(await schemaOf(postgres)).toBe(schemaVersion)
    const before = await shape()
    expect(before.length).toBeGreaterThan(100)
    expect(await migratePostgres(postgres, 2)).toEqual([])
    expect(await shape()).toEqual(before)
    expect((await made()).map(({ at }) => at)).toEqual(names.map(() => 1))
  })

  test('has no index whose order depends on the operating system’s collation', async () => {
    await migratePostgres(postgres, 1)
    const collations = await postgres.all<{ name: string; indexes: number }>(
      `select collname as name, count(*) as indexes
      from pg_index i
      join pg_class c on c.oid = i.indexrelid and c.relnamespace = 'public'::regnamespace
      cross join unnest(i.indcollation::oid[]) as k (oid)
      join pg_collation on pg_collation.oid = k.oid
      group by 1`,
    )
    expect(collations).toEqual([{ name: 'C', indexes: expect.any(Number) }])
  })

  test('is made completely or not at all', async () => {
    // Conflicts with the last table, but not with the first.
    await postgres.run('create table catalogue_log (mine text)')
    await expect(migratePostgres(postgres, 1)).rejects.toThrow('already exists')
    expect(await schemaOf(postgres)).toBe(0)
    expect(await shape()).toHaveLength(1)
  })

  describe('in two releases', () => {
    const next = (id: number, text: string, usableFrom: number): Migration => ({
      ...{ id: schemaVersion + id, name: `next ${id}`, text, usableFrom },
    })
    const expand = next(1, 'alter table organisations add column mood text', schemaVersion)
    const contract = next(2, 'alter table organisations drop column slug', schemaVersion + 1)
    const nodeOf = (schema: number, secondsAgo: number) =>
      postgres.run(
        `insert into nodes (id, name, release, schema, started_at, took_up, lease_until)
        values ($1, $1, '1.2.3', $2, 0, 0, clock_timestamp() - $3 * interval '1 second')`,
        `cairn-${schema}`,
        schema,
        secondsAgo,
      )
    beforeEach(() => migratePostgres(postgres, 1))

    test('is expanded while an older release runs, which goes on with it', async () => {
      await nodeOf(schemaVersion, -10)
      expect(await migratePostgres(postgres, 2, [...migrations, expand])).toEqual(['next 1'])
      const schema = await schemaOf(postgres)
      expect(schema).toBe(schemaVersion + 1)
      expect(await isUsable(postgres, schema)).toBe(true)
    })

    test('is contracted only once no older node may answer, and no older node can use it then', async () => {
      const both = [...migrations, expand, contract]
      await nodeOf(schemaVersion, 5)
      await nodeOf(schemaVersion + 1, -10)
      const refusal = await migratePostgres(postgres, 2, both).catch(error => error)
      expect(refusal).toBeInstanceOf(MigrationRefused)
      expect(refusal.message).toContain(
        `running, which could not go on: cairn-${schemaVersion} (1.2.3); stop`,
      )
      expect(await schemaOf(postgres)).toBe(schemaVersion)
      await postgres.run("update nodes set lease_until = lease_until - interval '1 minute'")
      expect(await migratePostgres(postgres, 2, both)).toEqual(['next 1', 'next 2'])
      expect(await isUsable(postgres, schemaVersion + 2)).toBe(false)
    })

    test('is left unchanged if somebody holds a table for too long', async () => {
      const short = { ...expand, text: `set local lock_timeout = '20ms'; ${expand.text}` }
      await postgres.begin(async other => {
        await other.run('lock table organisations in access share mode')
        const refusal = await migratePostgres(postgres, 2, [...migrations, short]).catch(e => e)
        expect(refusal).toBeInstanceOf(MigrationRefused)
        expect(refusal.message).toStartWith('somebody has held a table')
      })
      expect(await schemaOf(postgres)).toBe(schemaVersion)
    })
  })
})
