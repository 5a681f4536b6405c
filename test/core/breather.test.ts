import { expect, test } from 'bun:test'
import { Breather } from '../../src/core/breather.ts'

const turnOfTheLoop = () => new Promise<void>(resolve => setImmediate(resolve))

/** Works longer than a slice, so that the next rest gives way. */
function workLong(): void {
  const until = performance.now() + 4
  while (performance.now() < until);
}

test('of all that work at length, one works in a turn of the event loop, in order', async () => {
  const turns: string[][] = []
  const working = ['a', 'b', 'c'].map(async name => {
    const breather = new Breather()
    for (let i = 0; i < 2; i++) {
      await breather.rest()
      turns.at(-1)?.push(name)
      workLong()
    }
  })
  const done = Promise.all(working)
  for (let turn = 0; turn < 10; turn++) {
    turns.push([])
    await turnOfTheLoop()
  }
  await done
  expect(turns.filter(of => of.length > 0)).toEqual(['a', 'b', 'c', 'a', 'b', 'c'].map(of => [of]))
})
