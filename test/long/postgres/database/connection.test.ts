import { afterAll, beforeAll, beforeEach, expect } from 'bun:test'
import { Pgbouncer, pgbouncerProgram } from '../../../../scripts/support/pgbouncer.ts'
import { until } from '../../../../scripts/support/until.ts'
import {
  isPassingFault,
  Postgres,
  sqlStateOf,
} from '../../../../src/storage/postgres/database/connection.ts'
import { fieldOf } from '../../../../src/storage/postgres/rows/lines.ts'
import { freePort } from '../../../support/identity-provider.ts'
import { describe, PostgresServer, test } from '../../../support/postgres.ts'

describe('queries to PostgreSQL', () => {
  let server: PostgresServer
  let url: string
  let postgres: Postgres
  beforeAll(async () => {
    server = await PostgresServer.open()
  })
  beforeEach(async () => {
    await postgres?.close()
    url = await server.emptyDatabase()
    postgres = Postgres.open(url, { most: 3 })
    await postgres.run('create table boats (id bigint primary key, name text, hull bytea)')
  })
  afterAll(async () => {
    await postgres?.close(true)
    await server?.close()
  })

  const names = () => postgres.all<{ name: string }>('select name from boats order by id')

  test('whole numbers come as numbers, up to the largest exact one', async () => {
    const largest = Number.MAX_SAFE_INTEGER
    await postgres.run('insert into boats values ($1, null), ($2, null)', largest, -1)
    const rows = await postgres.all<{ id: number }>('select id from boats order by id')
    expect(rows.map(({ id }) => id)).toEqual([-1, largest])
    const counted = await postgres.get<{ n: number; of: number; half: number }>(
      'select count(*) as n, 7::integer as of, 0.5::float8 as half from boats',
    )
    expect(counted).toEqual({ n: 2, of: 7, half: 0.5 })
  })

  test('many rows are added at once, with every character that a text may have', async () => {
    const name = 'O’Hara "\\" \t\r\n\\N \\. \u{1F600}'
    const lines = `1\t${fieldOf(name)}\n2\t${fieldOf(null)}\n3\t${fieldOf('')}\n`
    await postgres.copy('boats (id, name)', lines)
    expect(await names()).toEqual([{ name }, { name: null as never }, { name: '' }])
    const torn = postgres.copy('boats (id, name)', '4\tAnn\n1\tBea\n')
    await expect(torn).rejects.toThrow('duplicate key')
    expect(await names()).toHaveLength(3)
  })

  test('statements that are queued behind one that fails get its error', async () => {
    await postgres.copy('boats (id, name)', '1\tAnn\n')
    let told: (string | null)[] = []
    const torn = postgres.begin(async transaction => {
      const asked = [
        transaction.copy('boats (id, name)', '1\tBea\n'),
        transaction.run('update boats set name = $1', 'Cia'),
        transaction.all('select * from boats'),
      ]
      told = await Promise.all(asked.map(one => one.then(() => null, sqlStateOf)))
      return Promise.all(asked)
    })
    await expect(torn).rejects.toThrow('duplicate key')
    expect(told).toEqual(['23505', '23505', '23505'])
    expect(await names()).toEqual([{ name: 'Ann' }])
  })

  test('a transaction is committed if its work resolves, and rolled back if it does not', async () => {
    const answered = await postgres.begin(async transaction => {
      await transaction.run("insert into boats values (1, 'Ann')")
      expect(await names()).toEqual([])
      return 'done'
    })
    expect(answered).toBe('done')
    const failed = postgres.begin(async transaction => {
      await transaction.run("insert into boats values (2, 'Bea')")
      throw new Error('changed my mind')
    })
    await expect(failed).rejects.toThrow('changed my mind')
    expect(await names()).toEqual([{ name: 'Ann' }])
  })

  test.skipIf(!pgbouncerProgram)(
    'each statement has the settings of its pool, behind PgBouncer too',
    async () => {
      await using pooler = await Pgbouncer.open(server.port)
      const pool = Postgres.open(pooler.through(url), {
        ...{ most: 2, answersWithinMs: 5_000, readsByKeys: true },
      })
      try {
        const setting = `select current_setting('statement_timeout') || current_setting('enable_sort') as s`
        const wanted = { s: '5soff' }
        expect(await pool.get(setting)).toEqual(wanted)
        expect(await pool.begin(transaction => transaction.get(setting))).toEqual(wanted)
        const read = pool.asOfOneMoment(async function* (snapshot) {
          yield await snapshot.get(setting)
        })
        expect(await Array.fromAsync(read)).toEqual([wanted])
        // Without the timeout it would wait for ever, for nobody.
        await postgres.begin(async holder => {
          await holder.run('lock table boats')
          expect(sqlStateOf(await faultOf(pool.run('delete from boats')))).toBe('57014')
        })
        expect(await pool.run('insert into boats values (1)')).toBe(1)
      } finally {
        await pool.close()
      }
    },
  )

  const faultOf = (work: Promise<unknown>) =>
    work.then(
      () => null,
      error => error,
    )

  describe('a fault', () => {
    const owns = {
      'that a row is there already': ['insert into boats values (1), (1)', '23505'],
      'in a value': ["select 'x'::integer", '22P02'],
      'in a statement': ['select nothing', '42703'],
    }
    test.each(Object.entries(owns))('%s does not pass by itself', async (_, [text, state]) => {
      const fault = await faultOf(postgres.run(text!))
      expect(sqlStateOf(fault)).toBe(state!)
      expect(isPassingFault(fault)).toBe(false)
    })

    test('of a server that does not listen passes', async () => {
      const nobody = Postgres.open(`postgres://cairn@127.0.0.1:${await freePort()}/x`, { most: 1 })
      const fault = await faultOf(nobody.all('select 1'))
      expect(fault).toBeInstanceOf(Error)
      expect(sqlStateOf(fault)).toBeNull()
      expect(isPassingFault(fault)).toBe(true)
      await nobody.close()
    })

    test('of two that wait for each other passes', async () => {
      await postgres.run("insert into boats values (1, 'Ann'), (2, 'Bea')")
      const met = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const faults = await Promise.all(
        [0, 1].map(mine =>
          faultOf(
            postgres.begin(async transaction => {
              const lock = 'select 1 from boats where id = $1 for update'
              await transaction.all(lock, mine + 1)
              met[mine]!.resolve()
              await met[1 - mine]!.promise
              await transaction.all(lock, 2 - mine)
            }),
          ),
        ),
      )
      const [fault] = faults.filter(Boolean)
      expect(sqlStateOf(fault)).toBe('40P01')
      expect(isPassingFault(fault)).toBe(true)
    })

    test('of a connection that the server ends passes, and the pool makes another', async () => {
      const fault = await faultOf(
        postgres.begin(async transaction => {
          await transaction.run('insert into boats values (1)')
          await transaction.all('select pg_terminate_backend(pg_backend_pid())')
        }),
      )
      expect(isPassingFault(fault)).toBe(true)
      expect(await names()).toEqual([])
    })

    const isAsleep = () =>
      until(
        () => server.ask("select 1 from pg_stat_activity where wait_event = 'PgSleep'"),
        rows => rows.length > 0,
      )

    test('of a server that dies during a statement passes, and a later one is answered', async () => {
      const under = faultOf(postgres.all('select pg_sleep(60)'))
      await isAsleep()
      await server.kill()
      expect(isPassingFault(await under)).toBe(true)
      expect(isPassingFault(await faultOf(postgres.all('select 1')))).toBe(true)
      await server.start()
      expect(await postgres.get('select 1 as one')).toEqual({ one: 1 })
    })

    test('of a pool that was closed at once passes', async () => {
      const pool = Postgres.open(url, { most: 1 })
      const under = faultOf(pool.all('select pg_sleep(60)'))
      await isAsleep()
      await pool.close(true)
      expect(isPassingFault(await under)).toBe(true)
    })
  })
})
