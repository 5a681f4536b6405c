import { expect, test } from 'bun:test'
import { TimeSlices } from '../../src/scheduling/cooperative.ts'

const turnOfTheLoop = () => new Promise<void>(resolve => setImmediate(resolve))

/** Works longer than a slice, so that the next rest yields. */
function workLong(): void {
  const until = performance.now() + 4
  while (performance.now() < until);
}

/** Who worked in each turn of the event loop, without the turns in which nobody did. */
async function turnsOf(working: Record<string, TimeSlices>, slices: number): Promise<string[][]> {
  const turns: string[][] = []
  const done = Promise.all(
    Object.entries(working).map(async ([name, own]) => {
      for (let i = 0; i < slices; i++) {
        await own.rest()
        turns.at(-1)?.push(name)
        workLong()
      }
    }),
  )
  for (let turn = 0; turn < 20; turn++) {
    turns.push([])
    await turnOfTheLoop()
  }
  await done
  return turns.filter(of => of.length > 0)
}

test('of several long workers, one works in each turn of the event loop, in order', async () => {
  const three = { a: new TimeSlices(), b: new TimeSlices(), c: new TimeSlices() }
  expect(await turnsOf(three, 2)).toEqual([['a'], ['b'], ['c'], ['a'], ['b'], ['c']])
})

test('urgent work gets every other turn, however many patient workers there are', async () => {
  const urgent = new TimeSlices(true)
  const patient = { a: new TimeSlices(), b: new TimeSlices(), c: new TimeSlices() }
  const turns = (await turnsOf({ ...patient, urgent }, 3)).flat()
  const [first = 0, , last = 0] = turns.flatMap((name, turn) => (name === 'urgent' ? [turn] : []))
  expect(last - first).toBe(4)
})
