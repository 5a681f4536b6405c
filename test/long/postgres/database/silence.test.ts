import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'bun:test'
import { TcpProxy } from '../../../../scripts/support/tcp-proxy.ts'
import { until } from '../../../../scripts/support/until.ts'
import {
  isPassingFault,
  Postgres,
  sqlStateOf,
} from '../../../../src/storage/postgres/database/connection.ts'
import { describe, PostgresServer, test } from '../../../support/postgres.ts'

describe('a database that does not answer', () => {
  let server: PostgresServer
  let proxy: TcpProxy
  let pools: Postgres[]
  beforeAll(async () => {
    server = await PostgresServer.open()
    await server.ask('create table boats (id bigint primary key, name text)')
  })
  beforeEach(async () => {
    await server.ask('truncate boats')
    proxy = await TcpProxy.open(server.port)
    pools = []
  })
  afterEach(async () => {
    server.signal('SIGCONT')
    await Promise.all(pools.map(pool => pool.close(true)))
    await proxy.close()
  })
  afterAll(() => server?.close())

  function open(options: Partial<Parameters<typeof Postgres.open>[1]> = {}): Postgres {
    const pool = Postgres.open(proxy.through(server.url()), {
      ...{ most: 1, answersWithinMs: 500, ...options },
    })
    pools.push(pool)
    return pool
  }

  const faultOf = (work: Promise<unknown>) =>
    work.then(
      () => null,
      error => error,
    )

  const isAnswered = (pool: Postgres) =>
    until(() =>
      pool.get('select 1').then(
        () => true,
        () => false,
      ),
    )

  const ways = {
    'whose processes stand still': [() => server.signal('SIGSTOP'), () => server.signal('SIGCONT')],
    'from which nothing arrives': [() => proxy.freeze(), () => proxy.thaw()],
  } as const
  describe.each(Object.entries(ways))('%s', (_, [silence, speak]) => {
    test('is given up: a statement fails in time, and so do others that are asked meanwhile', async () => {
      const pool = open()
      await pool.get('select 1')
      silence()
      const faults = await Promise.all([1, 2, 3].map(() => faultOf(pool.get('select 1'))))
      expect(faults.map(isPassingFault)).toEqual([true, true, true])
      speak()
      await isAnswered(pool)
    })

    test('is given up within a transaction, and nothing of that is kept', async () => {
      const pool = open()
      const fault = await faultOf(
        pool.begin(async transaction => {
          await transaction.run('insert into boats values (1)')
          silence()
          await transaction.run('insert into boats values (2)')
        }),
      )
      expect(isPassingFault(fault)).toBe(true)
      speak()
      await isAnswered(pool)
      expect(await pool.all('select * from boats')).toEqual([])
    })

    test('is tried by one caller at a time, and the others fail at once', async () => {
      const pool = open()
      await pool.get('select 1')
      silence()
      await faultOf(pool.get('select 1'))
      const tried = faultOf(pool.get('select 1'))
      // One after the other, each up to the bound, they would take 500 s.
      for (let i = 0; i < 1_000; i++) await faultOf(pool.get('select 1'))
      speak()
      await tried
      await isAnswered(pool)
    })
  })

  test('is not given up for a slow statement, which alone is ended', async () => {
    const pool = open({ most: 2 })
    const other = pool.begin(async transaction => {
      await transaction.run('insert into boats values (1)')
      const fault = await faultOf(pool.get('select pg_sleep(60)'))
      expect(sqlStateOf(fault)).toBe('57014')
      expect(isPassingFault(fault)).toBe(true)
    })
    await other
    expect(await pool.all('select id from boats')).toEqual([{ id: 1 }])
  })

  test('a transaction that its node abandons is rolled back, and others go on', async () => {
    const [left, right] = [open({ continuesWithinMs: 500 }), open({ answersWithinMs: 10_000 })]
    await right.run("insert into boats values (1, 'Ann')")
    const locked = Promise.withResolvers<void>()
    const leaving = faultOf(
      left.begin(async transaction => {
        await transaction.all('select * from boats for update')
        locked.resolve()
        await until(() => right.run("update boats set name = 'Bea'"))
        await transaction.run("update boats set name = 'Cia'")
      }),
    )
    await locked.promise
    expect(isPassingFault(await leaving)).toBe(true)
    expect(await right.get('select name from boats')).toEqual({ name: 'Bea' })
  })

  test('if connections are held for long, others wait for one in turn, but not for ever', async () => {
    const pool = open({ most: 1, isInTurns: true, answersWithinMs: 1_000 })
    const held = Promise.withResolvers<void>()
    const rows = pool.asOfOneMoment(async function* (snapshot) {
      yield await snapshot.get('select 1 as one')
      await held.promise
      yield await snapshot.get('select 2 as one')
    })
    await rows.next()
    const fault = await faultOf(pool.get('select 1'))
    expect(fault.name).toBe('NoTurn')
    expect(isPassingFault(fault)).toBe(true)
    const waiting = pool.get('select 3 as one')
    held.resolve()
    expect(await rows.next()).toMatchObject({ value: { one: 2 } })
    await rows.return(undefined)
    expect(await waiting).toEqual({ one: 3 })
  })
})

describe('an address that leads to another server', () => {
  test('is connected to again once the old server takes no writes', async () => {
    const [old, next] = await Promise.all([PostgresServer.open(), PostgresServer.open()])
    const proxy = await TcpProxy.open(old.port)
    const pool = Postgres.open(proxy.through(old.url()), { most: 1, answersWithinMs: 5_000 })
    try {
      for (const server of [old, next]) await server.ask('create table boats (id bigint)')
      await pool.run('insert into boats values (1)')
      // The old connection is left open, as HAProxy leaves it unless told otherwise.
      proxy.target = next.port
      await pool.run('set default_transaction_read_only = on')
      const fault = await pool.run('insert into boats values (2)').catch(error => error)
      expect(isPassingFault(fault)).toBe(true)
      expect(await pool.run('insert into boats values (2)')).toBe(1)
      expect(await next.ask('select id::float8 from boats')).toEqual([{ id: 2 }])
    } finally {
      await pool.close(true)
      await proxy.close()
      await Promise.all([old.close(), next.close()])
    }
  })
})
