import { expect, test } from 'bun:test'
import { growingMemory, growTo } from '../../../src/storage/shared/growing-memory.ts'

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
