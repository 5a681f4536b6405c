import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { WeightedSlices } from '../../src/http/input.ts'

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
