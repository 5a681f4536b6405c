import { beforeEach, expect, test } from 'bun:test'
import { Collector, maxGrowthBytes } from '../../src/runtime/collector.ts'

const mib = 2 ** 20

let givenBack: number
let collections: number
let done: number
let size: number
let collector: Collector

beforeEach(() => {
  givenBack = 0
  collections = 0
  done = 0
  size = 20 * mib
  collector = new Collector(() => done, maxGrowthBytes, {
    size: () => size,
    collect: () => collections++,
    giveBack: () => givenBack++,
  })
})

/** Two seconds in which the thread gives this many answers. */
function interval(answers: number) {
  done += answers
  for (let look = 0; look < 4; look++) collector.look()
}

test('a busy thread is not held up, and gives memory back once when the rush is over', () => {
  for (let i = 0; i < 5; i++) interval(10_000)
  expect(givenBack).toBe(0)
  for (let i = 0; i < 5; i++) interval(0)
  expect(givenBack).toBe(1)
})

test('a few requests now and then keep no garbage, and cause no collection of their own', () => {
  interval(5_000)
  interval(20)
  expect(givenBack).toBe(1)
  for (let i = 0; i < 49; i++) interval(20)
  expect(givenBack).toBe(1)
  interval(20)
  expect(givenBack).toBe(2)
})

test('a thread that has answered next to nothing is left alone', () => {
  interval(999)
  interval(0)
  expect(givenBack).toBe(0)
})

test('what a long download leaves behind is given back after it', () => {
  interval(1)
  size += 10 * mib
  interval(0)
  expect(givenBack).toBe(1)
})

/** A look at a busy thread. */
function lookInRush() {
  done += 1_000
  collector.look()
}

test('a heap is collected when it has grown much, and again when it has grown as much once more', () => {
  size = 33 * mib
  lookInRush()
  expect(collections).toBe(1)
  // Nothing of it was garbage.
  lookInRush()
  size = 44 * mib
  lookInRush()
  expect(collections).toBe(1)
  size = 46 * mib
  lookInRush()
  expect(collections).toBe(2)
})

test('a large heap is left to the engine', () => {
  for (size = 50 * mib; collections < 1; size += mib) lookInRush()
  for (const from = size; size < from + 100 * mib; size += mib) lookInRush()
  expect(collections).toBe(1)
})
