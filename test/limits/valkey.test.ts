import { afterEach, beforeEach, describe, expect } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import { until } from '../../scripts/support/until.ts'
import type { Organisation } from '../../src/core/organisation/catalogue.ts'
import { type Bucket, buckets, limitsWith, windowMs } from '../../src/core/organisation/limits.ts'
import { MemoryLimiter } from '../../src/limits/memory.ts'
import { ValkeyLimiter } from '../../src/limits/valkey.ts'
import { inspectValkey } from '../../src/limits/valkey-inspection.ts'
import { rounds } from '../support/rounds.ts'
import { test, Valkey } from '../support/valkey.ts'

/** The parts of an organisation that a limiter reads. */
const organisation = (id: string, limit: number) =>
  ({ id, ref: 1, limits: limitsWith({ events: limit, flows: limit }) }) as unknown as Organisation

const slots = new Map<string, number>()
const slotOf = ({ id }: Organisation) => {
  if (!slots.has(id)) slots.set(id, slots.size + 1)
  return slots.get(id)!
}
const inMemory = () => new MemoryLimiter(slotOf)

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

/** @param patienceMs far longer than an answer takes, because the machine may be busy */
async function node(patienceMs = 10_000) {
  const changes: (string | null)[] = []
  const limiter = new ValkeyLimiter({ url: valkey.url, patienceMs }, inMemory(), reason =>
    changes.push(reason),
  )
  open.push(limiter)
  await limiter.open()
  const take = async (one: Organisation, bucket: Bucket = 'events') =>
    limiter.take(one, bucket, performance.now())
  return { limiter, changes, take }
}

let last = 0
const anybody = (limit: number) => organisation(`org_${last++}`, limit)

test('it admits and refuses exactly as the in-memory limiter does', async () => {
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
    { numRuns: rounds(40) },
  )
})

test('three nodes, a thousand at once: exactly the limit is admitted, each with another remaining count', async () => {
  const nodes = await Promise.all([node(), node(), node()])
  const one = anybody(60)
  const taken = await Promise.all(Array.from({ length: 1_000 }, (_, i) => nodes[i % 3]!.take(one)))
  const admitted = taken.filter(({ admitted }) => admitted)
  expect(admitted.map(({ remaining }) => remaining).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 60 }, (_, i) => i),
  )
})

test('requests that arrive while the server is being asked share the next question', async () => {
  const { take } = await node()
  const [one, other] = [anybody(70), anybody(5)]
  const requested = await valkey.counts()
  const taken = await Promise.all(
    Array.from({ length: 100 }, (_, i) => take(i % 10 === 0 ? other : one)),
  )
  expect(await valkey.counts()).toBe(requested + 2)
  expect(taken.filter(({ admitted }) => admitted)).toHaveLength(75)
})

test('a full window is not asked for again until it ends or its limit is raised', async () => {
  const { limiter, take } = await node()
  const one = anybody(2)
  for (const admitted of [true, true, false]) expect((await take(one)).admitted).toBe(admitted)
  const requested = await valkey.counts()
  // Answered at once, without a promise.
  expect(limiter.take(one, 'events', performance.now())).toMatchObject({ admitted: false })
  const lower = { ...one, limits: limitsWith({ events: 1 }) }
  expect(limiter.take(lower, 'events', performance.now())).toMatchObject({ admitted: false })
  expect(await valkey.counts()).toBe(requested)
  const higher = { ...one, limits: limitsWith({ events: 4 }) }
  expect(await take(higher)).toMatchObject({ admitted: true, remaining: 1 })
  const isOver = performance.now() + windowMs
  // The server's own window is still open, and the server decides.
  expect(await limiter.take(one, 'events', isOver)).toMatchObject({ admitted: false })
  expect(await valkey.counts()).toBe(requested + 2)
})

test('a window that somebody has set without an expiry ends all the same', async () => {
  const { take } = await node()
  const one = anybody(5)
  await valkey.ask('SET', `cairn:{${one.id}}:events`, '5')
  expect(await take(one)).toMatchObject({ admitted: false, resetInMs: windowMs })
  expect(await valkey.ask('PTTL', `cairn:{${one.id}}:events`)).toBeGreaterThan(0)
})

test('a key that holds something else affects no other key', async () => {
  const { limiter, take } = await node()
  const one = anybody(5)
  await valkey.ask('HSET', `cairn:{${one.id}}:flows`, 'a', '1')
  expect(await take(one, 'flows')).toMatchObject({ admitted: true, remaining: 4 })
  expect({ isAway: limiter.isAway, alone: limiter.alone }).toEqual({ isAway: false, alone: 1 })
  expect(await take(one)).toMatchObject({ remaining: 4 })
  expect(limiter.alone).toBe(1)
})

test('a process that is busy for a long time does not take the server for lost', async () => {
  const patienceMs = 200
  const { limiter, take } = await node(patienceMs)
  const taken = take(anybody(5))
  const busyUntil = performance.now() + 2 * patienceMs
  while (performance.now() < busyUntil);
  expect(await taken).toMatchObject({ remaining: 4 })
  expect({ isAway: limiter.isAway, alone: limiter.alone }).toEqual({ isAway: false, alone: 0 })
})

test('an idle connection that the server closes is opened again without being reported', async () => {
  const { changes, limiter, take } = await node()
  const one = anybody(5)
  await take(one)
  await valkey.ask('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  await until(async () => (await limiter.take(one, 'events', performance.now())).remaining < 4)
  expect(changes).toEqual([])
})

test('a server that has forgotten the script goes on counting', async () => {
  const { limiter, take } = await node()
  const one = anybody(5)
  expect(await take(one)).toMatchObject({ remaining: 4 })
  await valkey.ask('SCRIPT', 'FLUSH')
  expect(await take(one)).toMatchObject({ remaining: 3 })
  expect(limiter.isAway).toBe(false)
})

describe('while the server is away', () => {
  test('the node decides requests in flight alone, and finds the server again', async () => {
    const { limiter, changes, take } = await node(200)
    const one = anybody(3)
    expect(await take(one)).toMatchObject({ remaining: 2 })
    valkey.signal('SIGSTOP')
    const answers = await Promise.all(Array.from({ length: 5 }, () => take(one)))
    // By this node's own window, which begins now.
    expect(answers.map(({ admitted }) => admitted)).toEqual([true, true, true, false, false])
    expect(limiter.isAway).toBe(true)
    expect(limiter.alone).toBe(5)
    valkey.signal('SIGCONT')
    await until(() => !limiter.isAway)
    expect(changes).toEqual([expect.stringContaining('no answer'), null])
    const { admitted } = await take(anybody(1))
    expect({ admitted, alone: limiter.alone }).toEqual({ admitted: true, alone: 5 })
  })

  test('the node counts alone, and goes back to the server once that is started again', async () => {
    const { limiter, take } = await node()
    await valkey.kill()
    expect(await take(anybody(1))).toMatchObject({ admitted: true, remaining: 0 })
    await until(() => limiter.isAway)
    await valkey.start()
    await until(() => !limiter.isAway)
    const one = anybody(1)
    await take(one)
    expect(await valkey.ask('GET', `cairn:{${one.id}}:events`)).toBe('1')
  })

  test('a server without memory for new windows counts as away, and stays so', async () => {
    const { limiter, changes, take } = await node()
    await valkey.ask('CONFIG', 'SET', 'maxmemory', '1')
    expect(await take(anybody(2))).toMatchObject({ admitted: true, remaining: 1 })
    expect(limiter.isAway).toBe(true)
    await until(async () => {
      const told = String(await valkey.ask('INFO', 'commandstats'))
      return Number(/cmdstat_evalsha:.*failed_calls=(\d+)/.exec(told)?.[1] ?? 0) >= 3
    })
    expect(limiter.isAway).toBe(true)
    expect(changes).toEqual([expect.stringContaining('OOM')])
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

test('a user with the rights that the manual names can count, in another database too', async () => {
  const manual = await Bun.file(join(import.meta.dir, '../../src/manual/limits.md')).text()
  const rights = /`(~cairn:\*[^`]*)`/.exec(manual)![1]!.split(' ')
  const more = /`(\+select)`/.exec(manual)![1]!
  const pass = 'a b@c/d%'
  await valkey.ask('ACL', 'SETUSER', 'cairn', 'on', `>${pass}`, ...rights, more)
  const place = `127.0.0.1:${valkey.port}`
  const url = `redis://cairn:${encodeURIComponent(pass)}@${place}/1`
  expect(await inspectValkey({ url, patienceMs: 10_000 })).toMatchObject({ place })
  // A second inspection must not succeed because of what the first one left behind.
  await valkey.ask('CONFIG', 'SET', 'maxmemory', '1')
  await expect(inspectValkey({ url, patienceMs: 10_000 })).rejects.toThrow('OOM')
  expect(await valkey.ask('DBSIZE')).toBe(0)
})
