import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { badSince, type ReportSlot } from '../../../src/core/step/bad-since.ts'
import { type HealthCounts, noHealthCounts } from '../../../src/core/step/health.ts'

const people = (some: Partial<HealthCounts>): HealthCounts => ({ ...noHealthCounts(), ...some })

/** One slot for each pair of [misses, reports], at 0, 10, 20, … */
const slots = (...pairs: [number, number][]): ReportSlot[] =>
  pairs.map(([misses, reports], i) => ({
    reports,
    misses,
    fallback: 0,
    firstMissAt: misses > 0 ? 10 * i : null,
    firstFallbackAt: null,
  }))

const missesSince = async (misses: number, of: number, ...past: [number, number][]) => {
  const counts = people({ not_found: misses, found: of - misses })
  return badSince(counts, () => slots(...past)).missesSince
}

describe('the moment since which misses are many', () => {
  test('is the first miss after the finds', async () => {
    expect(await missesSince(90, 100, [0, 50], [0, 50], [45, 50], [45, 50])).toBe(20)
  })

  test('is not moved by a stray miss before it', async () => {
    expect(await missesSince(90, 100, [1, 50], [0, 50], [0, 50], [45, 50])).toBe(30)
  })

  test('is not moved by a lucky find after it, nor by a quiet time', async () => {
    expect(await missesSince(90, 100, [0, 50], [45, 50], [0, 1], [0, 0], [45, 50])).toBe(10)
  })

  test('is null where misses are few, and then nothing is looked up', async () => {
    const requested = () => {
      throw new Error('asked')
    }
    const few = badSince(people({ found: 96, not_found: 4 }), requested)
    expect(few).toEqual({ missesSince: null, fallbackSince: null })
  })

  test('is also given for fallback finds, counted among the finds', async () => {
    const past: ReportSlot[] = [
      { reports: 20, misses: 10, fallback: 0, firstMissAt: 1, firstFallbackAt: null },
      { reports: 20, misses: 10, fallback: 8, firstMissAt: 11, firstFallbackAt: 12 },
    ]
    const counts = people({ found: 2, changed: 8, not_found: 10 })
    expect(badSince(counts, () => past)).toEqual({ missesSince: 1, fallbackSince: 12 })
  })
})

test('whatever came before, something was missed at that moment, and misses were many since', async () => {
  const pair = fc
    .tuple(fc.nat({ max: 20 }), fc.nat({ max: 20 }))
    .map(([misses, finds]): [number, number] => [misses, misses + finds])
  await fc.assert(
    fc.asyncProperty(fc.array(pair), fc.integer({ min: 5, max: 100 }), async (past, misses) => {
      const since = await missesSince(misses, 100, ...past)
      if (since === null) return
      const rest = past.slice(since / 10)
      expect(rest[0]?.[0]).toBeGreaterThan(0)
      const sum = (i: 0 | 1) => rest.reduce((total, slot) => total + slot[i], 0)
      expect(sum(0)).toBeGreaterThan(Math.max(0.05, misses / 200) * sum(1) - 1e-6)
    }),
  )
})
