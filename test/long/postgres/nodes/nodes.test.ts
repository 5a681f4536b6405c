import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'bun:test'
import { until } from '../../../../scripts/support/until.ts'
import { Postgres } from '../../../../src/storage/postgres/database/connection.ts'
import { holdJob, releaseJobs, SharedJob } from '../../../../src/storage/postgres/nodes/jobs.ts'
import {
  keepFile,
  keepFileIfAbsent,
  keptFile,
  keptFiles,
} from '../../../../src/storage/postgres/nodes/kept-files.ts'
import {
  apart,
  ClusterNode,
  graceMs,
  liveNodes,
  type NodeOptions,
  nodesBehind,
} from '../../../../src/storage/postgres/nodes/nodes.ts'
import { Visibility } from '../../../../src/storage/postgres/nodes/visibility.ts'
import { NodeBoard } from '../../../../src/storage/shared/node-board.ts'
import { describe, PostgresServer, test } from '../../../support/postgres.ts'

/** Longer than any test. */
const long = 600_000
const lease = { leaseMs: long, renewMs: long }
const own = { release: '1.2.3', startedAt: 5 }

describe('nodes that share a database', () => {
  let server: PostgresServer
  let postgres: Postgres
  /** The clock by which nodes count their leases. */
  let elapsedMs = 0
  const joined: ClusterNode[] = []

  beforeAll(async () => {
    server = await PostgresServer.open()
  })
  beforeEach(async () => {
    postgres = Postgres.open(await server.newDatabase(), { most: 4 })
  })
  afterEach(async () => {
    for (const node of joined.splice(0)) await node.leave()
    await postgres.close()
  })
  afterAll(() => server?.close())

  const newNode = (name: string, options: Partial<NodeOptions> = {}) => {
    const monotonic = () => elapsedMs
    const node = new ClusterNode({
      ...{ queries: postgres, name, ...own, monotonic, lease },
      ...options,
    })
    joined.push(node)
    return node
  }
  const join = async (name: string, options?: Partial<NodeOptions>) => {
    const node = newNode(name, options)
    await node.join()
    return node
  }
  /** All parts of a node know of a change, and the other nodes are told. */
  const takeUp = async (node: ClusterNode, change: number) => {
    node.takeUp(change)
    await node.tell()
  }
  const behind = async (change: number) =>
    (await nodesBehind(postgres, change, lease)).map(({ name }) => name)
  const names = async () => (await liveNodes(postgres)).map(({ name }) => name)
  const change = () => postgres.run('update catalogue_clock set seq = seq + 1')
  /** As if PostgreSQL's clock had moved on. */
  const expire = (node: ClusterNode, byMs = 1) =>
    postgres.run(
      `update nodes set lease_until = clock_timestamp() - $2 * interval '1 millisecond'
      where id = $1`,
      node.id,
      byMs,
    )

  describe('leases', () => {
    test('that run out remove a node from the list, and its row after a day', async () => {
      const node = await join('a')
      await expire(node)
      expect(await names()).toEqual([])
      expect(await postgres.all('select * from nodes')).toHaveLength(1)
      await expire(node, 86_400_000)
      expect(await names()).toEqual([])
      expect(await postgres.all('select * from nodes')).toHaveLength(0)
      await node.renew()
      expect(await names()).toEqual(['a'])
    })

    test('are renewed again and again, even after a renewal has failed', async () => {
      let asked = 0
      const failingOnce = Object.assign(Object.create(postgres), {
        get: (text: string, ...values: string[]) => {
          if (text.startsWith('insert') && ++asked === 2) return Promise.reject(new Error('away'))
          return postgres.get(text, ...values)
        },
      })
      const faults: unknown[] = []
      await join('a', {
        queries: failingOnce,
        lease: { leaseMs: long, renewMs: 5 },
        onFault: error => faults.push(error),
      })
      await until(() => asked >= 4)
      expect(faults).toEqual([new Error('away')])
      expect(await names()).toEqual(['a'])
    })

    test('run out by the node’s own clock, counted from before it asked, and later it stops answering', async () => {
      const slow = Object.assign(Object.create(postgres), {
        get: (text: string, ...values: string[]) => {
          elapsedMs += 10
          return postgres.get(text, ...values)
        },
      })
      const node = await join('a', { queries: slow })
      expect(node.isCurrent).toBe(true)
      // It has asked twice: for the lease, and for what it must know.
      elapsedMs += long + graceMs - 20 - 1
      expect(node.isCurrent).toBe(true)
      elapsedMs += 1
      expect(node.isCurrent).toBe(false)
      await node.renew()
      expect(node.isCurrent).toBe(true)
    })

    test('say how many nodes are running, and how far the clock is off', async () => {
      const board = new NodeBoard(NodeBoard.memory())
      await join('a')
      const gone = await join('gone')
      await expire(gone)
      let seen = 0
      await join('b', { board, now: () => Date.now() + 60_000, onRenewed: () => seen++ })
      expect(board.nodes).toBe(2)
      expect(seen).toBe(1)
      expect(Math.round(board.clockAhead! / 10_000)).toBe(6)
      expect(apart(1_000, 1_000, 50)).toBe(0)
      expect(apart(1_000, 1_040, 50)).toBe(0)
      expect(apart(1_000, 900, 50)).toBe(100)
      expect(apart(1_000, 2_000, 50)).toBe(-949)
    })
  })

  describe('a change of the catalogue', () => {
    test('that is made while others wait is waited for separately', async () => {
      const [a, b] = [await join('a'), await join('b')]
      await takeUp(a, 9)
      const board = new NodeBoard(NodeBoard.memory())
      const visibility = new Visibility(postgres, board, lease)
      let isSeen = false
      const first = visibility.wait(7)
      const second = visibility.wait(8).then(() => {
        isSeen = true
      })
      await takeUp(b, 7)
      await first
      expect(isSeen).toBe(false)
      await takeUp(b, 8)
      await second
    })

    test('must be known to a node that had lost its lease, because nobody has waited for it', async () => {
      const node = await join('a')
      elapsedMs += long + graceMs
      await expire(node, graceMs + 1_500)
      await change()
      expect(await behind(1)).toEqual([])
      expect(node.isCurrent).toBe(false)
      await node.renew()
      expect(node.isCurrent).toBe(false)
      await takeUp(node, 1)
      expect(node.isCurrent).toBe(true)
    })
  })

  describe('a job', () => {
    test('is held by one node until that gives it up', async () => {
      expect(await holdJob(postgres, 'retention', 'a', long)).toBe(true)
      expect(await holdJob(postgres, 'retention', 'b', long)).toBe(false)
      expect(await holdJob(postgres, 'retention', 'a', long)).toBe(true)
      expect(await holdJob(postgres, 'alerts', 'b', long)).toBe(true)
      await releaseJobs(postgres, 'b')
      expect(await holdJob(postgres, 'retention', 'b', long)).toBe(false)
      await releaseJobs(postgres, 'a')
      expect(await holdJob(postgres, 'retention', 'b', long)).toBe(true)
      await releaseJobs(postgres, 'b')
      expect(await postgres.all('select * from jobs')).toEqual([])
    })

    test('is done soon if it was taken over from another node, or another node asks', async () => {
      const board = { followedAt: 0, clockAhead: -59_000 }
      const monotonic = () => elapsedMs
      const of = (id: string) => Object.assign(Object.create(board) as typeof board, { id })
      const [a, b] = ['a', 'b'].map(id => new SharedJob(postgres, 'alerts', of(id), monotonic))
      expect(await a!.hold()).toBe(true)
      // What the previous holder has done may not be known here yet.
      expect(a!.isOurs).toBe(false)
      board.followedAt = elapsedMs
      expect(a!.isOurs).toBe(true)
      expect([await b!.hold(), b!.isOurs]).toEqual([false, false])
      expect(await a!.hold()).toBe(false)
      await b!.ask()
      expect(await a!.hold()).toBe(true)
      expect(await a!.hold()).toBe(false)
      await a!.release()
      expect([await b!.hold(), b!.isOurs]).toEqual([true, true])
      expect([await a!.hold(), a!.isOurs]).toEqual([false, false])
      // Due times depend on the clock, so a node whose clock is wrong does not do the job.
      board.clockAhead = -61_000
      await b!.release()
      expect([await a!.hold(), a!.isOurs]).toEqual([false, false])
    })
  })

  describe('kept files', () => {
    const file = (name: string, text: string, at = 1) => ({ name, content: Buffer.from(text), at })
    const textOf = (kept: { content: Uint8Array } | null) =>
      kept && Buffer.from(kept.content).toString()

    test('that several nodes store at once are the winner’s for all of them', async () => {
      const putting = Array.from({ length: 20 }, (_, i) =>
        keepFileIfAbsent(postgres, file('key', `of ${i}`)),
      )
      const texts = (await Promise.all(putting)).map(textOf)
      expect(new Set(texts).size).toBe(1)
      expect(textOf(await keptFile(postgres, 'key'))).toBe(texts[0]!)
    })

    test('are listed by the prefix of their names', async () => {
      for (const name of ['snippet/b', 'snippet/a', 'snippet_c', 'issuer/%'])
        await keepFile(postgres, file(name, name, name.length))
      const listed = async (prefix: string) =>
        (await keptFiles(postgres, prefix)).map(({ name }) => name)
      expect(await listed('snippet/')).toEqual(['snippet/a', 'snippet/b'])
      expect(await listed('')).toEqual(['issuer/%', 'snippet/a', 'snippet/b', 'snippet_c'])
    })
  })
})
