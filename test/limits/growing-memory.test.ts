import { describe, expect, test } from 'bun:test'
import { growingMemory, growTo } from '../../src/limits/growing-memory.ts'
import { WindowTable } from '../../src/limits/shared-memory.ts'

const mib = 2 ** 20

test('memory grows only as far as it is used, and existing views see it grow', () => {
  const memory = growingMemory(mib)
  const words = new Int32Array(memory)
  expect(memory.byteLength).toBe(0)
  growTo(memory, 4)
  const first = memory.byteLength
  expect(first).toBeLessThan(mib / 8)
  words[0] = 7
  growTo(memory, mib)
  expect(memory.byteLength).toBe(mib)
  expect([words[0], words.at(-1)]).toEqual([7, 0])
  // It never shrinks, because another thread may use what is there.
  growTo(memory, 4)
  expect(memory.byteLength).toBe(mib)
  expect(() => growTo(memory, mib + 1)).toThrow(RangeError)
})

describe('a table for many organisations grows only up to the last one that was seen', () => {
  const most = 100_000

  test('windows', () => {
    const memory = WindowTable.memory(most)
    const [one, other] = [new WindowTable(memory), new WindowTable(memory)]
    expect(one.take(3, 0, 2, 1_000).remaining).toBe(1)
    expect(memory.byteLength).toBeLessThan(mib)
    expect(one.take(most - 1, 7, 2, 1_000).remaining).toBe(1)
    expect(other.take(most - 1, 7, 2, 1_000).remaining).toBe(0)
    expect(other.take(3, 0, 2, 1_000).remaining).toBe(0)
  })
})
