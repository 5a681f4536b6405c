import { afterEach, beforeEach, describe, expect } from 'bun:test'
import fc from 'fast-check'
import { until } from '../../scripts/support/until.ts'
import { type Bucket, buckets, limitsWith, windowMs } from '../../src/core/organisation/buckets.ts'
import type { Organisation } from '../../src/core/organisation/catalogue.ts'
import { LimitsBoard } from '../../src/limits/limits-board.ts'
import { SharedMemoryLimiter } from '../../src/limits/shared-memory.ts'
import { ValkeyLimiter, type WhileAway } from '../../src/limits/valkey.ts'
import { test, Valkey } from '../support/valkey.ts'

/** An organisation, as far as a limiter looks at it. */
const organisation = (id: string, limit: number) =>
  ({ id, ref: 1, limits: limitsWith({ events: limit, flows: limit }) }) as unknown as Organisation

const slots = new Map<string, number>()
const slotOf = ({ id }: Organisation) => {
  if (!slots.has(id)) slots.set(id, slots.size + 1)
  return slots.get(id)!
}
const inMemory = () => new SharedMemoryLimiter(SharedMemoryLimiter.memory(1_000), slotOf)

let valkey: Valkey
let open: ValkeyLimiter[]
beforeEach(async () => {
  open = []
  valkey = await Valkey.open()
})
afterEach(async () => {
  for (const limiter of open) limiter.close()
  await valkey.close()
})

async function node(whileAway: WhileAway = 'share') {
  const board = new LimitsBoard(LimitsBoard.memory())
  const changes: (string | null)[] = []
  const limiter = new ValkeyLimiter(valkey.url, whileAway, inMemory(), board, reason =>
    changes.push(reason),
  )
  open.push(limiter)
  await limiter.open()
  const take = async (one: Organisation, bucket: Bucket = 'events') =>
    limiter.take(one, bucket, performance.now())
  return { limiter, board, changes, take }
}

let last = 0
const anybody = (limit: number) => organisation(`org_${last++}`, limit)

test('it admits and refuses as the limiter in memory does', async () => {
  const { take } = await node()
  const beside = inMemory()
  const request = fc.record({
    who: fc.nat(2),
    bucket: fc.constantFrom<Bucket>('events', 'flows'),
    limit: fc.nat(4),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(request, { maxLength: 30 }), async requests => {
      const round = last++
      for (const { who, bucket, limit } of requests) {
        const one = organisation(`org_${round}_${who}`, limit)
        const { admitted, remaining, resetInMs } = await take(one, bucket)
        const expected = await beside.take(one, bucket, performance.now())
        expect({ admitted, remaining }).toEqual({
          admitted: expected.admitted,
          remaining: expected.remaining,
        })
        expect(resetInMs).toBeGreaterThan(0)
        expect(resetInMs).toBeLessThanOrEqual(windowMs)
      }
    }),
    { numRuns: 40 },
  )
})

test('three nodes, a thousand at once: exactly the limit is admitted, and each is told another rest', async () => {
  const nodes = await Promise.all([node(), node(), node()])
  const one = anybody(60)
  const taken = await Promise.all(Array.from({ length: 1_000 }, (_, i) => nodes[i % 3]!.take(one)))
  const admitted = taken.filter(({ admitted }) => admitted)
  expect(admitted.map(({ remaining }) => remaining).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 60 }, (_, i) => i),
  )
})

test('a full window is asked for once, until it ends or has another limit', async () => {
  const { limiter, take } = await node()
  const one = anybody(2)
  for (const admitted of [true, true, false]) expect((await take(one)).admitted).toBe(admitted)
  const asked = await valkey.counts()
  // At once, not by a promise.
  expect(limiter.take(one, 'events', performance.now())).toMatchObject({ admitted: false })
  const lower = { ...one, limits: limitsWith({ events: 1 }) }
  expect(limiter.take(lower, 'events', performance.now())).toMatchObject({ admitted: false })
  expect(await valkey.counts()).toBe(asked)
  const higher = { ...one, limits: limitsWith({ events: 4 }) }
  expect(await take(higher)).toMatchObject({ admitted: true, remaining: 1 })
  const isOver = performance.now() + windowMs
  // The server's own window goes on: it is the one that says so.
  expect(await limiter.take(one, 'events', isOver)).toMatchObject({ admitted: false })
  expect(await valkey.counts()).toBe(asked + 2)
})

test('a window that somebody made to last for ever ends all the same', async () => {
  const { take } = await node()
  const one = anybody(5)
  await valkey.ask('SET', `cairn:{${one.id}}:events`, '5')
  expect(await take(one)).toMatchObject({ admitted: false, resetInMs: windowMs })
  expect(await valkey.ask('PTTL', `cairn:{${one.id}}:events`)).toBeGreaterThan(0)
})

test('a server that has forgotten the script counts on', async () => {
  const { board, take } = await node()
  const one = anybody(5)
  expect(await take(one)).toMatchObject({ remaining: 4 })
  await valkey.ask('SCRIPT', 'FLUSH')
  expect(await take(one)).toMatchObject({ remaining: 3 })
  expect(board.isAway).toBe(false)
})

describe('while the server is away', () => {
  test('requests in flight are decided alone, and it is found again', async () => {
    const { board, changes, take } = await node()
    const one = anybody(3)
    expect(await take(one)).toMatchObject({ remaining: 2 })
    valkey.signal('SIGSTOP')
    const answers = await Promise.all(Array.from({ length: 5 }, () => take(one)))
    // By this node's own window, which begins now.
    expect(answers.map(({ admitted }) => admitted)).toEqual([true, true, true, false, false])
    expect(board.isAway).toBe(true)
    expect(board.alone).toBe(5)
    valkey.signal('SIGCONT')
    await until(() => !board.isAway)
    expect(changes).toEqual([expect.stringContaining('no answer'), null])
    const { admitted } = await take(anybody(1))
    expect({ admitted, alone: board.alone }).toEqual({ admitted: true, alone: 5 })
  })

  test('killed and started again', async () => {
    const { board, take } = await node()
    await valkey.kill()
    expect(await take(anybody(1))).toMatchObject({ admitted: true, remaining: 0 })
    expect(board.isAway).toBe(true)
    await valkey.start()
    await until(() => !board.isAway)
    const one = anybody(1)
    await take(one)
    expect(await valkey.ask('GET', `cairn:{${one.id}}:events`)).toBe('1')
  })

  test('a server that takes no more windows is one that is away', async () => {
    const { board, changes, take } = await node()
    await valkey.ask('CONFIG', 'SET', 'maxmemory', '1')
    expect(await take(anybody(2))).toMatchObject({ admitted: true, remaining: 1 })
    expect(board.isAway).toBe(true)
    expect(changes[0]).toContain('OOM')
  })

  test('all are let in where that is set', async () => {
    const { take } = await node('open')
    await valkey.kill()
    const one = anybody(1)
    for (let i = 0; i < 3; i++) expect((await take(one)).admitted).toBe(true)
  })

  test('none are where that is set, and they are told to come again', async () => {
    const { take } = await node('refuse')
    await valkey.kill()
    const refused = await take(anybody(1)).catch(error => error)
    expect(refused).toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 })
  })
})

test('every bucket has a window of its own', async () => {
  const { take } = await node()
  const one = { ...anybody(1), limits: limitsWith({}) }
  const remaining = await Promise.all(
    buckets.map(async bucket => one.limits[bucket] - (await take(one, bucket)).remaining),
  )
  expect(remaining).toEqual(buckets.map(() => 1))
})
