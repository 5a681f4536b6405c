import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Organisation } from '../../src/core/organisation/catalogue.ts'
import { type Bucket, buckets, limitsWith, windowMs } from '../../src/core/organisation/limits.ts'
import { MemoryLimiter } from '../../src/limits/memory.ts'

/** An organisation whose buckets all have one limit. */
const organisation = (slot: number, limit: number) => {
  const limits = limitsWith(Object.fromEntries(buckets.map(bucket => [bucket, limit])))
  return { slot, limits } as unknown as Organisation
}
const slotOf = (one: Organisation) => (one as unknown as { slot: number }).slot

const newLimiter = (sharers = 1) => new MemoryLimiter(slotOf, () => sharers)

describe('a window', () => {
  test('opens at the first request that is counted and lasts sixty seconds', () => {
    const limiter = newLimiter()
    const acme = organisation(1, 2)
    const take = (now: number) => limiter.take(acme, 'events', now)
    expect(take(5_000)).toEqual({ admitted: true, remaining: 1, resetInMs: windowMs })
    expect(take(5_000 + 59_999)).toEqual({ admitted: true, remaining: 0, resetInMs: 1 })
    expect(take(5_000 + 59_999).admitted).toBe(false)
    expect(take(5_000 + 60_000)).toEqual({ admitted: true, remaining: 1, resetInMs: windowMs })
  })

  test('of one organisation and bucket does not affect any other, however many there are', () => {
    const limiter = newLimiter()
    const slots = [0, 1, 2, 3, 999, 131_072]
    const takeAll = () =>
      slots.flatMap(slot =>
        buckets.map(bucket => limiter.take(organisation(slot, 1), bucket, 1_000).admitted),
      )
    expect(takeAll()).not.toContain(false)
    expect(takeAll()).not.toContain(true)
  })

  test('takes up a lowered or raised limit at once', () => {
    const limiter = newLimiter()
    const takeOf = (limit: number) => limiter.take(organisation(0, limit), 'events', 0)
    for (let i = 0; i < 5; i++) expect(takeOf(5).admitted).toBe(true)
    expect(takeOf(3)).toMatchObject({ admitted: false, remaining: 0 })
    expect(takeOf(7)).toMatchObject({ admitted: true, remaining: 1 })
  })

  test('never lasts longer than a minute for a request that came before the one that opened it', () => {
    const limiter = newLimiter()
    const acme = organisation(1, 5)
    limiter.take(acme, 'events', 2_000)
    expect(limiter.take(acme, 'events', 1_000)).toMatchObject({ resetInMs: windowMs, remaining: 3 })
  })

  test('is divided among those who share it, and each admits at least one', () => {
    const admittedOf = (limit: number, sharers: number) => {
      const limiter = newLimiter(sharers)
      const take = () => limiter.take(organisation(1, limit), 'events', 0).admitted
      return Array.from({ length: 20 }, take).filter(Boolean).length
    }
    expect(admittedOf(10, 3)).toBe(3)
    expect(admittedOf(2, 3)).toBe(1)
    expect(admittedOf(0, 3)).toBe(0)
  })

  test('counts like a plain counter, at any times and limits', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.constantFrom<Bucket>(...buckets),
        fc.array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 60 }),
        fc.integer({ min: 0, max: 2 ** 40 }),
        (limit, bucket, pauses, begin) => {
          const limiter = newLimiter()
          let now = begin
          let openedAt = Number.NEGATIVE_INFINITY
          let count = 0
          for (const pause of pauses) {
            now += pause
            if (now - openedAt >= windowMs) {
              openedAt = now
              count = 0
            }
            const expected = count < limit
            if (expected) count++
            expect(limiter.take(organisation(0, limit), bucket, now)).toEqual({
              admitted: expected,
              remaining: limit - count,
              resetInMs: openedAt + windowMs - now,
            })
          }
        },
      ),
    )
  })
})
