import { expect, test } from 'bun:test'
import { Semaphore } from '../../src/scheduling/cooperative.ts'

test('never runs more at once than there are turns, in order, even after a failure', async () => {
  const turns = new Semaphore(2)
  let underWay = 0
  let most = 0
  const order: number[] = []
  const work = (n: number) =>
    turns.take(async () => {
      underWay++
      most = Math.max(most, underWay)
      order.push(n)
      await Promise.resolve()
      underWay--
      if (n === 1) throw new Error('this failure is part of a test')
      return n
    })
  const results = await Promise.allSettled([0, 1, 2, 3, 4].map(work))
  expect(most).toBe(2)
  expect(order).toEqual([0, 1, 2, 3, 4])
  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
    'fulfilled',
  ])
  expect(await work(5)).toBe(5)
})
