import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { until } from '../../scripts/support/until.ts'
import { buckets, windowMs } from '../../src/core/organisation/buckets.ts'
import { WindowTable } from '../../src/limits/shared-memory.ts'
import type { WindowWork } from '../support/window-worker.ts'

const tableOf = (slots = 4) => new WindowTable(WindowTable.memory(slots))

describe('a window', () => {
  test('opens at the first request that is counted and lasts sixty seconds', () => {
    const table = tableOf()
    expect(table.take(1, 0, 2, 5_000)).toEqual({
      admitted: true,
      remaining: 1,
      resetInMs: windowMs,
    })
    expect(table.take(1, 0, 2, 5_000 + 59_999)).toEqual({
      admitted: true,
      remaining: 0,
      resetInMs: 1,
    })
    expect(table.take(1, 0, 2, 5_000 + 59_999).admitted).toBe(false)
    expect(table.take(1, 0, 2, 5_000 + 60_000)).toEqual({
      admitted: true,
      remaining: 1,
      resetInMs: windowMs,
    })
  })

  test('opens again after any time without requests, even weeks', () => {
    const table = tableOf()
    for (const days of [1, 20, 24.8, 25, 30, 49.7, 50, 100, 1_000]) {
      const now = days * 86_400_000
      expect(table.take(0, 0, 1, now).admitted).toBe(true)
      expect(table.take(0, 0, 1, now + 1).admitted).toBe(false)
    }
  })

  test('of one organisation and bucket does not affect any other', () => {
    const table = tableOf()
    for (let slot = 0; slot < 4; slot++) {
      for (const [bucket] of buckets.entries()) {
        expect(table.take(slot, bucket, 1, 1_000).admitted).toBe(true)
        expect(table.take(slot, bucket, 1, 1_000).admitted).toBe(false)
      }
    }
  })

  test('takes up a lowered or raised limit at once', () => {
    const table = tableOf()
    for (let i = 0; i < 5; i++) expect(table.take(0, 0, 5, 0).admitted).toBe(true)
    expect(table.take(0, 0, 3, 0)).toMatchObject({ admitted: false, remaining: 0 })
    expect(table.take(0, 0, 7, 0)).toMatchObject({ admitted: true, remaining: 1 })
  })

  test('counts like a plain counter, at any times and limits', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 60 }),
        fc.integer({ min: 0, max: 2 ** 33 }),
        (limit, pauses, begin) => {
          const table = tableOf(1)
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
            expect(table.take(0, 3, limit, now)).toEqual({
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

describe('across threads', () => {
  test.each([2, 4])('%d of them admit exactly the limit, never one more', async threads => {
    const limits = [1, 2, 10, 300, 5_000]
    const memory = WindowTable.memory(limits.length)
    const gateMemory = new SharedArrayBuffer(8)
    const gate = new Int32Array(gateMemory)
    const work: WindowWork = {
      memory,
      gate: gateMemory,
      limits,
      moments: [1_000],
      triesEach: 6_000,
    }
    const workers = Array.from(
      { length: threads },
      () => new Worker(new URL('../support/window-worker.ts', import.meta.url).href),
    )
    const results = workers.map(worker => {
      const { promise, resolve, reject } = Promise.withResolvers<number[][]>()
      worker.onmessage = ({ data }) => resolve(data)
      worker.onerror = event => reject(new Error(event.message))
      worker.postMessage(work)
      return promise
    })
    // They start together, so that they really race to open a window.
    await until(() => Atomics.load(gate, 0) === threads)
    Atomics.store(gate, 1, 1)
    Atomics.notify(gate, 1)
    const admitted = await Promise.all(results)
    for (const worker of workers) worker.terminate()
    const totals = limits.map((_, slot) =>
      admitted.reduce((sum, ofThread) => sum + (ofThread[slot]?.[0] ?? 0), 0),
    )
    expect(totals).toEqual(limits)
  })
})
