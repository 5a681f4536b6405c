import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { WeightedSlices } from '../../src/http/input.ts'

const nextTurn = () => new Promise<void>(resolve => setImmediate(resolve))

test('light work that comes alone waits for nothing', () => {
  const slices = new WeightedSlices(100)
  expect(slices.enter(60)).toBeUndefined()
  expect(slices.enter(40)).toBeUndefined()
  expect(slices.enter(1)).toBeInstanceOf(Promise)
})

test('work that is heavier than a slice has one to itself', async () => {
  const slices = new WeightedSlices(100)
  expect(slices.enter(1_000)).toBeUndefined()
  let hasBegun = false
  slices.enter(1_000)?.then(() => {
    hasBegun = true
  })
  await Promise.resolve()
  expect(hasBegun).toBe(false)
  await nextTurn()
  expect(hasBegun).toBe(true)
})

test('waiting work counts as waiting weight until its slice begins', async () => {
  const slices = new WeightedSlices(100)
  const all = [60, 60, 70].map(weight => slices.enter(weight))
  expect(slices.waitingWeight).toBe(130)
  await all[1]
  expect(slices.waitingWeight).toBe(70)
  await all[2]
  expect(slices.waitingWeight).toBe(0)
})

test('quick work is done between two slices', async () => {
  const slices = new WeightedSlices(10)
  const order: string[] = []
  const work = async (name: string) => {
    await slices.enter(10)
    order.push(name)
  }
  const heavy = Promise.all([work('first'), work('second'), work('third')])
  setImmediate(() => order.push('quick'))
  await heavy
  expect(order).toEqual(['first', 'second', 'quick', 'third'])
})

test('all work is done, in the order in which it came', async () => {
  const weights = fc.array(fc.integer({ min: 0, max: 150 }), { maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(weights, async given => {
      const slices = new WeightedSlices(100)
      const done: number[] = []
      await Promise.all(
        given.map(async (weight, i) => {
          const turn = slices.enter(weight)
          if (turn) await turn
          done.push(i)
        }),
      )
      expect(done).toEqual(given.map((_, i) => i))
    }),
  )
})
