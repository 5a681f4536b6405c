import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cutAtCommitOf, TcpProxy } from '../../../../scripts/support/tcp-proxy.ts'
import { until } from '../../../../scripts/support/until.ts'
import { LogInUse, LogUnavailable } from '../../../../src/storage/log/log.ts'
import { PostgresLog } from '../../../../src/storage/log/postgres/postgres-log.ts'
import { databaseFile, openForWriting } from '../../../../src/storage/sqlite/database/database.ts'
import { moveIntoLog } from '../../../../src/storage/sqlite/replica/move.ts'
import {
  NotOfThisLog,
  prepareReplica,
} from '../../../../src/storage/sqlite/replica/prepare-replica.ts'
import { storeSnapshot, writeSnapshot } from '../../../../src/storage/sqlite/replica/snapshots.ts'
import { HandClock } from '../../../support/hand-clock.ts'
import { NodeWorld } from '../../../support/node-world.ts'
import { describe, PostgresServer, test } from '../../../support/postgres.ts'
import { replicatedRows } from '../../../support/replicated.ts'
import { World } from '../../../support/world.ts'
import type { Store } from '../../conformance/store.ts'
import { definitionOf, Tenant } from '../../conformance/tenant.ts'

const tour = definitionOf({ key: 'tour', steps: [{ key: 'one', title: 'One' }] })

/** A row for each row of the table of failures in the design. */
describe('a machine over a log', () => {
  let server: PostgresServer
  let proxy: TcpProxy
  let url: string
  let clock: HandClock
  /** The first is asked through the proxy; the other never loses the database. */
  let nodes: NodeWorld[]
  let tenant: Tenant
  let places: string[]
  let sent = 0
  beforeAll(async () => {
    server = await PostgresServer.open()
  })
  beforeEach(async () => {
    url = await server.newDatabase()
    proxy = await TcpProxy.open(server.port)
    clock = new HandClock()
    places = []
    nodes = [await NodeWorld.open(proxy.through(url), clock, { follows: false, isCounted: false })]
    nodes.push(await NodeWorld.open(url, clock, { follows: false, isCounted: false }))
    const { world } = nodes[0]!
    tenant = await Tenant.of({ ...world, stores: world.stores, clock } as unknown as Store)
    await tenant.publish(tour)
  })
  afterEach(async () => {
    proxy.thaw()
    proxy.cutAt = () => null
    for (const node of nodes) {
      await node.stop()
      rmSync(node.world.dataDir, { recursive: true, force: true })
    }
    for (const place of places) rmSync(place, { recursive: true, force: true })
    await proxy.close()
  })
  afterAll(() => server?.close())

  const place = () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'cairn-test-'))
    places.push(dataDir)
    return dataDir
  }

  /** Sends an event through a machine, and returns its id. */
  const send = async (node = nodes[0]!, id = `event-${sent++}`): Promise<string> => {
    const event = tenant.event(id, { kind: 'flow_started', flowKey: 'tour', userId: id })
    const batch = { orgRef: tenant.ref, receivedAt: clock.now(), refusals: {}, skewMs: null }
    await node.world.stores.ledger.append({ ...batch, events: [event] })
    return id
  }

  const peopleIn = (node: NodeWorld) =>
    node.world.database
      .query<{ person: string }, []>('select person from runs order by person')
      .all()
      .map(({ person }) => person.slice(1))

  /** All machines hold these people and the same of everything else. */
  const expectAllToHave = async (...people: string[]) => {
    for (const { world } of nodes) {
      await world.storage.follow()
      await world.storage.projected()
    }
    const expected = replicatedRows(nodes[0]!.world.database)
    for (const node of nodes) {
      expect(peopleIn(node)).toEqual(people.toSorted())
      expect(replicatedRows(node.world.database)).toEqual(expected)
    }
  }

  const add = async (dataDir = place()) => {
    const node = await NodeWorld.open(url, clock, { dataDir, follows: false, isCounted: false })
    nodes.push(node)
    return node
  }

  /** Stops a machine, and starts it again over its directory. */
  const restart = async (node: NodeWorld) => {
    await node.stop()
    nodes.splice(nodes.indexOf(node), 1)
    return add(node.world.dataDir)
  }

  /** Fails the next commit to the disk, as a full disk would. */
  const failCommit = ({ world }: NodeWorld) => {
    const { writer } = world.storage as unknown as { writer: { commit: () => void } }
    const { commit } = writer
    writer.commit = () => {
      writer.commit = commit
      throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
    }
  }

  test('takes up what follows its position, and nothing of the group before that again', async () => {
    const [one, other] = nodes as [NodeWorld, NodeWorld]
    await tenant.publish(definitionOf({ key: 'next', steps: [{ key: 'one', title: 'One' }] }))
    const { position } = one.world.storage.replica!
    await send(other)
    const pages = await Array.fromAsync(one.log.since(position))
    expect(pages.flatMap(({ rows }) => rows.map(({ table }) => table))).not.toContain('flows')
    expect(pages.flatMap(({ batches }) => batches)).toHaveLength(1)
  })

  test('erases what it takes up together with the erasure', async () => {
    const [one, other] = nodes as [NodeWorld, NodeWorld]
    await other.world.storage.follow()
    // Nothing is left to do there that would wait for the transaction.
    await other.world.storage.projected()
    await other.world.storage.housekeeping.retain()
    const id = await send()
    const [finishing, takingUp] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const { store } = one.log
    one.log.store = async (...args) => {
      await finishing.promise
      return store.apply(one.log, args)
    }
    const { since } = other.log
    other.log.since = async function* (from) {
      for await (const page of since.call(other.log, from)) {
        yield page
        if (page.to === null) await takingUp.promise
      }
    }
    const erased = tenant.erase(`u${id}`)
    const rows = 'select * from erasures where receipt like \'%"events":1%\''
    await until(() => one.world.database.query(rows).all().length === 1)
    const followed = other.world.storage.follow()
    await until(() => other.world.database.inTransaction)
    const done = other.world.storage.together!.work.hereToo()
    // By then a thread that does not wait for the end of the transaction has read the events.
    await Bun.sleep(500)
    takingUp.resolve()
    await Promise.all([followed, done])
    finishing.resolve()
    await erased
    await expectAllToHave(...peopleIn(one))
    expect(peopleIn(one)).not.toContain(id)
  })

  test('that was killed before it had erased somebody does so at its next start', async () => {
    const [one, other] = nodes as [NodeWorld, NodeWorld]
    const id = await send()
    const finishing = Promise.withResolvers<void>()
    const { store } = one.log
    one.log.store = async (...args) => {
      await finishing.promise
      return store.apply(one.log, args)
    }
    const erased = tenant.erase(`u${id}`)
    await until(() => peopleIn(one).length === 1 && !peopleIn(one).includes(id))
    other.world.storage.together!.work.hereToo = async () => {}
    await other.world.storage.follow()
    await other.stop()
    finishing.resolve()
    await erased
    nodes.pop()
    const again = await add(other.world.dataDir)
    await again.world.storage.catchUp()
    await expectAllToHave(...peopleIn(one))
  })

  test('whose disk is full as an erasure begins does not finish it before it has erased', async () => {
    const one = nodes[0]!
    const id = await send()
    await one.world.storage.projected()
    failCommit(one)
    await expect(tenant.erase(`u${id}`)).rejects.toMatchObject({ code: 'overloaded' })
    expect(await one.log.snapshots()).toEqual([])
    const receipt = await tenant.erase(`u${id}`)
    expect(receipt).toMatchObject({ finishedAt: expect.any(Number), erased: { events: 1 } })
    expect(peopleIn(one)).not.toContain(id)
  })

  test('whose work continues after the log has given it up keeps none of that', async () => {
    const { log } = nodes[0]!
    const { append } = log
    let late: Promise<unknown> | undefined
    log.append = (_, work) => {
      log.append = append
      const rejected = Promise.reject(new LogUnavailable('away'))
      const pages = async function* () {
        await rejected.catch(() => new Promise(resolve => setImmediate(resolve)))
      }
      late = work(pages()).catch(error => error)
      return rejected
    }
    const id = await send()
    expect(await late).toBeInstanceOf(LogUnavailable)
    await expectAllToHave(id)
  })

  test('that loses the log before a commit there keeps nothing, and says so', async () => {
    const kept = await send(nodes[1])
    let isCut = false
    proxy.cutAt = sent => {
      isCut ||= sent.includes('insert into cairn_ledger')
      return isCut ? 'before' : null
    }
    await expect(send()).rejects.toMatchObject({ code: 'overloaded' })
    proxy.cutAt = () => null
    await expectAllToHave(kept)
  })

  test('that cannot commit to its disk what the log has takes it up from there', async () => {
    failCommit(nodes[0]!)
    const id = await send()
    expect(peopleIn(nodes[0]!)).toEqual([])
    await expectAllToHave(id)
    // The number was not used twice.
    await expectAllToHave(id, await send(), await send(nodes[1]))
  })

  test('that dies between the two commits has the group after its next start', async () => {
    failCommit(nodes[0]!)
    const id = await send()
    await restart(nodes[0]!)
    await expectAllToHave(id)
  })

  test('whose commit arrived, and the answer did not, keeps the group and says so', async () => {
    proxy.cutAt = cutAtCommitOf('insert into cairn_ledger', 'after')
    const id = await send()
    expect(proxy.cuts.after).toBe(1)
    await expectAllToHave(id)
  })

  test('whose commit did not arrive writes the group again, once', async () => {
    proxy.cutAt = cutAtCommitOf('insert into cairn_ledger', 'before')
    const id = await send()
    expect(proxy.cuts.before).toBe(1)
    await expectAllToHave(id)
    const [found] = await server.ask<{ rows: string }>(
      'select count(*) as rows from cairn_ledger',
      url,
    )
    expect(Number(found!.rows)).toBe(1)
  })

  test('that cannot look up the outcome of a commit says so, and has the group later', async () => {
    const cut = cutAtCommitOf('insert into cairn_ledger', 'after')
    proxy.cutAt = (sent, connection) => {
      const how = cut(sent, connection)
      if (how === null) return proxy.cuts.after === 0 ? null : 'before'
      return how
    }
    const rejection = await send().catch((error: unknown) => error)
    expect(rejection).toMatchObject({ code: expect.any(String) })
    proxy.cutAt = () => null
    await expectAllToHave(`event-${sent - 1}`)
    // Whoever sends it again is told that it is a duplicate.
    await send(nodes[0], `event-${sent - 1}`)
    await expectAllToHave(`event-${sent - 1}`)
  }, 60_000)

  test('that hangs while it has the log to itself holds the others up for a few seconds only', async () => {
    const held = await PostgresLog.open(url)
    const hanging = held.append(
      nodes[1]!.world.storage.replica!.position,
      () => Promise.withResolvers<null>().promise,
    )
    hanging.catch(() => {})
    await until(async () => {
      const rows = await server.ask(
        "select from pg_stat_activity where state = 'idle in transaction'",
      )
      return rows.length > 0
    })
    // On a busy machine it may be refused once before that.
    const id = await until(() => send().catch(() => null))
    await expectAllToHave(id!)
    await held.close().catch(() => {})
  }, 60_000)

  test('without the log rejects writes, and continues to answer from its copy', async () => {
    const kept = await send()
    await nodes[0]!.world.storage.projected()
    proxy.freeze()
    proxy.cutAll()
    proxy.target = 1
    proxy.thaw()
    await expect(send()).rejects.toMatchObject({ code: 'overloaded' })
    const { world } = nodes[0]!
    expect(world.storage.isRejecting).toBe(true)
    expect(world.stores.catalogue().flow(tenant.flowId('tour'))).not.toBeNull()
    expect(await tenant.runs('tour')).toHaveLength(1)
    proxy.target = server.port
    await world.storage.follow()
    expect(world.storage.isRejecting).toBe(false)
    await expectAllToHave(kept, await send())
  }, 60_000)

  test('is filled anew if the log has lost commits that it has taken up', async () => {
    const early = await send()
    await nodes[0]!.world.storage.together!.snapshots.make()
    await server.ask('create table kept as select * from cairn_clock', url)
    const { seq } = nodes[0]!
    await send()
    await nodes[1]!.world.storage.follow()
    // As a standby that lacks the last commits, or a backup.
    await server.ask(
      `begin; update cairn_clock set seq = kept.seq, mark = kept.mark, at = kept.at from kept;
      delete from cairn_marks where seq > ${seq}; delete from cairn_ledger where seq > ${seq}; commit`,
      url,
    )
    // A machine that was behind goes on, and the numbers are used again.
    const other = await add()
    const later = await send(other)
    await expect(send(nodes[0])).rejects.toMatchObject({ code: 'overloaded' })
    for (const node of nodes.slice(0, 2)) await restart(node)
    await expectAllToHave(early, later)
  })

  test('whose directory was restored from an older backup takes up what it lacks', async () => {
    const first = await send()
    const older = place()
    nodes[1]!.world.database.query('vacuum into ?').run(databaseFile(older))
    const second = await send()
    await add(older)
    await expectAllToHave(first, second)
  })

  test('whose clock is behind changes nothing before what the log has', async () => {
    const behind = await NodeWorld.open(url, new HandClock(clock.wallMs - 3_600_000), {
      ...{ follows: false, isCounted: false },
    })
    nodes.push(behind)
    const id = await send()
    await behind.world.storage.follow()
    tenant = Object.create(tenant, {
      store: {
        value: {
          stores: behind.world.stores,
          management: behind.world.management,
          clock: behind.world.clock,
        },
      },
    })
    await tenant.publish(tour)
    const published = behind.world.database
      .query<{ at: number }, []>('select published_at as at from flow_versions order by version')
      .all()
    expect(published[1]!.at).toBeGreaterThan(published[0]!.at)
    expect(published[1]!.at).toBeGreaterThanOrEqual(clock.now())
    await expectAllToHave(id)
  })

  describe('whose clock is wrong', () => {
    const minute = 60_000
    const newestTime = async () => (await nodes[0]!.log.newest()).at
    const openWith = async (clock: HandClock) => {
      const node = await NodeWorld.open(url, clock, {
        ...{ follows: false, isCounted: false, comparesClock: true },
      })
      nodes.push(node)
      return node
    }

    test.each([
      ['ahead', 2_880],
      ['behind', -2_880],
    ])('by two days %s writes nothing until it is set', async (_, minutes) => {
      const own = new HandClock(Date.now())
      const node = await openWith(own)
      const before = await newestTime()
      own.wallMs += minutes * minute
      await expect(send(node)).rejects.toMatchObject({
        code: 'overloaded',
        message: expect.stringContaining('2880 minutes'),
      })
      expect(await newestTime()).toBe(before)
      // It goes on following, and refuses at once.
      const id = await send(nodes[1])
      await node.world.storage.follow()
      expect(node.seq).toBe((await node.log.newest()).seq)
      expect(node.world.storage.isRejecting).toBe(true)
      own.wallMs -= minutes * minute
      await node.world.storage.follow()
      expect(node.world.storage.isRejecting).toBe(false)
      await expectAllToHave(id, await send(node))
    })
  })

  test('that was away during an erasure is filled anew, and has nothing of the person', async () => {
    const id = await send()
    await nodes[1]!.world.storage.follow()
    await nodes[1]!.stop()
    await tenant.erase(`u${id}`)
    const { dataDir } = nodes[1]!.world
    const log = nodes[0]!.log
    nodes.splice(1, 1)
    expect(await prepareReplica(dataDir, log, 'here')).toMatch(/erased/)
    const node = await add(dataDir)
    await node.world.storage.follow()
    await node.world.storage.projected()
    expect(peopleIn(node)).toEqual(peopleIn(nodes[0]!))
    expect(peopleIn(node)).not.toContain(id)
  })

  test('begins with the older snapshot if the newest one is damaged', async () => {
    const { snapshots } = nodes[0]!.world.storage.together!
    const first = await send()
    await nodes[1]!.world.storage.follow()
    await snapshots.make()
    const second = await send()
    await snapshots.make()
    const [newest, older] = await nodes[0]!.log.snapshots()
    expect(older!.seq).toBeLessThan(newest!.seq)
    await server.ask(
      `update cairn_snapshot_parts set body = set_byte(body, 9, get_byte(body, 9) # 255) where snapshot = '${newest!.id}'`,
      url,
    )
    await add()
    await expectAllToHave(first, second)
  })

  test('sets an empty database up together with others that do so at once', async () => {
    const empty = await server.emptyDatabase()
    const logs = await Promise.all(Array.from({ length: 4 }, () => PostgresLog.open(empty)))
    expect(new Set(logs.map(({ id }) => id)).size).toBe(1)
    for (const log of logs) await log.close()
  })

  test('whose database is lost, begins another one with all that it has', async () => {
    const kept = [await send(), await send(nodes[1])]
    await expectAllToHave(...kept)
    const [old] = nodes.splice(0, 1)
    const { dataDir } = old!.world
    await old!.stop()
    await nodes.pop()!.stop()
    url = await server.newDatabase()
    const log = await PostgresLog.open(url)
    await expect(prepareReplica(dataDir, log, 'here')).rejects.toThrow(
      'which is empty: name that one; if it is lost, run "cairn move --database-lost"',
    )
    const move = async (isOldLost: boolean) => {
      using database = openForWriting(dataDir)
      await moveIntoLog(database, log, clock.now(), () => {}, isOldLost)
    }
    await expect(move(false)).rejects.toThrow('"cairn move --database-lost"')
    await move(true)
    await storeSnapshot(log, await writeSnapshot(dataDir), clock.now())
    await log.close()
    await add(dataDir)
    await add()
    await expectAllToHave(...kept)
    // Its ids are known, and its numbers are not used again.
    await send(nodes[1], kept[0])
    await expectAllToHave(...kept, await send(), await send(nodes[1]))
  })

  test('fills an empty directory anew if its database is damaged beyond reading and was removed', async () => {
    const id = await send()
    const node = nodes[1]!
    await node.stop()
    nodes.splice(1, 1)
    rmSync(databaseFile(node.world.dataDir))
    for (const suffix of ['-wal', '-shm']) {
      rmSync(`${databaseFile(node.world.dataDir)}${suffix}`, { force: true })
    }
    await add(node.world.dataDir)
    await expectAllToHave(id)
  })

  describe('with a directory of something else', () => {
    const expectRejection = async (dataDir: string, message: RegExp) => {
      const rejection = await prepareReplica(dataDir, nodes[0]!.log, 'here').catch(error => error)
      expect(rejection).toBeInstanceOf(NotOfThisLog)
      expect(rejection.message).toMatch(message)
    }
    const addOrganisation = ({ stores, management }: World) =>
      Tenant.of({ stores, management, clock } as unknown as Store)
    const organisationsIn = async (dataDir: string) => {
      const world = new World({ dataDir, clock })
      const rows = world.database.query('select name from organisations').all()
      await world.stop()
      return rows
    }

    test('such as another log, does not start, and deletes nothing', async () => {
      const other = await NodeWorld.open(await server.newDatabase(), clock)
      places.push(other.world.dataDir)
      await addOrganisation(other.world)
      await other.stop()
      await expectRejection(other.world.dataDir, /follows another database/)
    })

    test('such as a server alone, does not start, and deletes nothing', async () => {
      const alone = new World({ clock })
      places.push(alone.dataDir)
      await addOrganisation(alone)
      await alone.stop()
      await expectRejection(alone.dataDir, /run "cairn move"/)
      expect(await organisationsIn(alone.dataDir)).toHaveLength(1)
    })

    test('such as that of an interrupted move, does not start before the move is done', async () => {
      const alone = new World({ clock })
      places.push(alone.dataDir)
      await addOrganisation(alone)
      const log = await PostgresLog.open(await server.newDatabase())
      const move = () => moveIntoLog(alone.database, log, clock.now(), () => {})
      const fill = log.fill.bind(log)
      log.fill = () => Promise.reject(new Error('killed'))
      await expect(move()).rejects.toThrow('killed')
      const rejection = await prepareReplica(alone.dataDir, log, 'here').catch(error => error)
      expect(rejection).toBeInstanceOf(NotOfThisLog)
      expect(rejection.message).toMatch(/run "cairn move" again/)
      log.fill = fill
      expect((await move()).get('organisations')).toBe(1)
      await alone.stop()
      expect(await prepareReplica(alone.dataDir, log, 'here')).toBeNull()
      await log.close()
    })

    test('such as one whose move was overtaken, is that of a server alone again', async () => {
      const log = await PostgresLog.open(await server.newDatabase())
      const alone = [new World({ clock }), new World({ clock })]
      for (const world of alone) {
        places.push(world.dataDir)
        await addOrganisation(world)
      }
      const [slow, quick] = alone.map(
        ({ database }) =>
          () =>
            moveIntoLog(database, log, clock.now(), () => {}),
      )
      const fill = log.fill.bind(log)
      log.fill = async (...args) => {
        log.fill = fill
        await quick!()
        return fill(...args)
      }
      await expect(slow!()).rejects.toThrow(LogInUse)
      for (const world of alone) await world.stop()
      const rejection = await prepareReplica(alone[0]!.dataDir, log, 'here').catch(error => error)
      expect(rejection.message).toMatch(/data of a single server/)
      expect(await organisationsIn(alone[0]!.dataDir)).toHaveLength(1)
      expect(await prepareReplica(alone[1]!.dataDir, log, 'here')).toBeNull()
      await log.close()
    })

    test('such as a file that is no database, does not start, and deletes nothing', async () => {
      const dataDir = place()
      writeFileSync(databaseFile(dataDir), 'no database')
      await expect(prepareReplica(dataDir, nodes[0]!.log, 'here')).rejects.toThrow()
      expect(await Bun.file(databaseFile(dataDir)).text()).toBe('no database')
    })
  })
})
