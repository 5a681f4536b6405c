import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'bun:test'
import { isCommit, TcpProxy } from '../../../../scripts/support/tcp-proxy.ts'
import { until } from '../../../../scripts/support/until.ts'
import { isPassingFault, Postgres } from '../../../../src/storage/postgres/database/connection.ts'
import { Transactions } from '../../../../src/storage/postgres/writer/transactions.ts'
import { isInDoubt } from '../../../../src/storage/sqlite/writer/messages.ts'
import { describe, PostgresServer, test } from '../../../support/postgres.ts'

const bounds = { most: 2, answersWithinMs: 1_000, continuesWithinMs: 1_000 }

describe('a commit whose answer is lost', () => {
  let server: PostgresServer
  let proxy: TcpProxy
  let pools: Postgres[]
  let transactions: Transactions
  let url: string
  beforeAll(async () => {
    server = await PostgresServer.open()
    url = await server.newDatabase()
    await server.ask('create table boats (id bigint)', url)
  })
  beforeEach(async () => {
    await server.ask('truncate boats, receipts', url)
    proxy = await TcpProxy.open(server.port)
    pools = [0, 1].map(() => Postgres.open(proxy.through(url), bounds))
    const [postgres, beside] = pools as [Postgres, Postgres]
    transactions = new Transactions(postgres, beside, 2_000)
    await launch(0)
  })
  afterEach(async () => {
    await Promise.all(pools.map(pool => pool.close(true)))
    await proxy.close()
  })
  afterAll(() => server?.close())

  const launch = (id: number) =>
    transactions.run(async queries => {
      await queries.run('insert into boats values ($1)', id)
      return `launched ${id}`
    })
  const boats = async () =>
    (await server.ask<{ id: number }>('select id from boats order by id', url)).map(({ id }) => id)

  const faultOf = (work: Promise<unknown>) =>
    work.then(
      () => null,
      error => error,
    )

  /** Cuts at the first piece sent that is meant. */
  function cutOnce(how: 'before' | 'after' | 'silent', isMeant = isCommit) {
    let isLeft = true
    const before = proxy.cutAt
    proxy.cutAt = (sent, connection) => {
      if (!isLeft || !isMeant(sent)) return before(sent, connection)
      isLeft = false
      return how
    }
  }

  test('was made, and its result is returned', async () => {
    cutOnce('after')
    expect(await launch(1)).toBe('launched 1')
    expect(proxy.cuts.after).toBe(1)
    expect(transactions.doubts).toEqual({ kept: 1, notKept: 0, unknown: 0 })
    expect(await boats()).toEqual([0, 1])
  })

  test('was not made if it never arrived, and the fault passes', async () => {
    cutOnce('before')
    const fault = await faultOf(launch(1))
    expect(isPassingFault(fault)).toBe(true)
    expect(transactions.doubts).toEqual({ kept: 0, notKept: 1, unknown: 0 })
    expect(await boats()).toEqual([0])
    expect(await launch(1)).toBe('launched 1')
  })

  test('is not taken for made because of the receipt that looking for it left behind', async () => {
    // The lookup is prepared in a first piece, and executed in a second one.
    let pieces = 0
    const isLookedUp = (sent: string) => proxy.cuts.before === 1 && !isCommit(sent) && ++pieces > 1
    cutOnce('after', isLookedUp)
    cutOnce('before')
    await faultOf(launch(1))
    expect(proxy.cuts).toMatchObject({ before: 1, after: 1 })
    const looked = await server.ask('select 1 from receipts where not is_kept', url)
    expect(looked).toHaveLength(1)
    expect(transactions.doubts).toEqual({ kept: 0, notKept: 1, unknown: 0 })
    expect(await boats()).toEqual([0])
  })

  test('stays in doubt while the server is silent, which the caller learns in bounded time', async () => {
    cutOnce('silent')
    const startedAt = performance.now()
    const fault = await faultOf(launch(1))
    expect(isInDoubt(fault)).toBe(true)
    expect(performance.now() - startedAt).toBeLessThan(30_000)
    expect(transactions.doubts).toEqual({ kept: 0, notKept: 0, unknown: 1 })
    proxy.thaw()
    expect(await launch(2)).toBe('launched 2')
    expect(await boats()).toEqual([0, 1, 2])
  })

  test('waits for a missing standby, which another connection sees, and was made once that is back', async () => {
    // As if the standby had gone. It never existed.
    await server.ask("alter system set synchronous_standby_names = 'nobody'")
    await server.reloadStandbys()
    expect(await transactions.areHeldUp()).toBe(false)
    const launched = faultOf(launch(1))
    await until(() => transactions.areHeldUp().catch(() => false))
    expect(isInDoubt(await launched)).toBe(true)
    await server.ask('alter system reset synchronous_standby_names')
    await server.reloadStandbys()
    await until(() => transactions.areHeldUp().then(isHeldUp => !isHeldUp))
    expect(await boats()).toEqual([0, 1])
  })

  test('is resolved once the server answers again', async () => {
    cutOnce('silent')
    const launched = launch(1)
    await until(() => proxy.cuts.silent === 1)
    setTimeout(() => proxy.thaw(), 1_500)
    expect(await launched).toBe('launched 1')
    expect(await boats()).toEqual([0, 1])
  })
})
