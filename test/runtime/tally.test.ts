import { expect, test } from 'bun:test'
import { Tally } from '../../src/runtime/tally.ts'

test('counts from the first look on, until nobody has looked for ten seconds', () => {
  let now = 0
  const tally = new Tally<string>(() => now)
  expect(tally.isWatched).toBe(false)
  expect(tally.read()).toEqual([])
  expect(tally.isWatched).toBe(true)
  tally.add('a', { requests: 1, limited: 1 })
  tally.add('a', { requests: 1 })
  const none = { accepted: 0, duplicates: 0, rejected: 0 }
  expect(tally.read()).toEqual([['a', { requests: 2, limited: 1, ...none }]])
  now = 10_001
  tally.add('a', { requests: 1 })
  expect(tally.isWatched).toBe(false)
  expect(tally.read()).toEqual([])
})

test('of many it returns those with most of anything', () => {
  const tally = new Tally<number>(() => 0)
  tally.read()
  for (let key = 0; key < 5_000; key++) tally.add(key, { requests: key })
  tally.add(0, { limited: 1 })
  const told = new Map(tally.read())
  expect(told.size).toBeLessThanOrEqual(500)
  expect([told.has(4_999), told.has(4_900), told.has(0)]).toEqual([true, true, true])
})
