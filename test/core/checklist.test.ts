import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { checklistCompletedAt, itemStates, type Tick } from '../../src/core/checklist.ts'

const tick = (itemId: number, at: number): Tick => ({ itemId, at, ticked: true })
const untick = (itemId: number, at: number): Tick => ({ itemId, at, ticked: false })
const both = () => [1, 2]

describe('where items stand', () => {
  test.each<[string, Tick[], [number, number][]]>([
    ['a ticked item stands since its first tick', [tick(1, 5), tick(1, 9)], [[1, 5]]],
    ['the last write counts', [tick(1, 5), untick(1, 7)], []],
    ['a tick after a taking back begins anew', [tick(1, 5), untick(1, 7), tick(1, 9)], [[1, 9]]],
    ['at the same moment the taking back counts', [tick(1, 5), untick(1, 5)], []],
    ['items do not touch each other', [tick(1, 5), untick(2, 7)], [[1, 5]]],
  ])('%s', (_, ticks, expected) => {
    expect([...itemStates(ticks)]).toEqual(expected)
    expect([...itemStates(ticks.toReversed())]).toEqual(expected)
  })
})

describe('when a checklist is complete', () => {
  test.each<[string, Tick[], number | null]>([
    ["at its last item's first tick", [tick(1, 5), tick(2, 8), tick(1, 9)], 8],
    ['never with an item missing', [tick(1, 5)], null],
    ['not while one was taken back', [tick(1, 5), untick(1, 6), tick(2, 8)], null],
    ['a later taking back does not undo it', [tick(1, 5), tick(2, 8), untick(1, 9)], 8],
  ])('%s', (_, ticks, expected) => {
    expect(checklistCompletedAt(ticks, both)).toBe(expected)
  })

  test('a flow without items is never completed by ticks', () => {
    expect(checklistCompletedAt([tick(1, 5)], () => [])).toBeNull()
  })

  test('the items are those of the version at the moment of the tick', () => {
    const itemsAt = (at: number) => (at < 10 ? [1, 2] : [1])
    expect(checklistCompletedAt([tick(1, 5), tick(3, 12)], itemsAt)).toBe(12)
  })

  test('the order in which ticks arrive changes nothing', () => {
    const ticks = fc.array(
      fc.record({
        itemId: fc.integer({ min: 1, max: 3 }),
        at: fc.integer({ min: 0, max: 9 }),
        ticked: fc.boolean(),
      }),
    )
    fc.assert(
      fc.property(
        ticks.chain(all =>
          fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
        ),
        ([all, shuffled]) => {
          expect(checklistCompletedAt(shuffled, both)).toBe(checklistCompletedAt(all, both))
          expect(new Map([...itemStates(shuffled)].sort())).toEqual(
            new Map([...itemStates(all)].sort()),
          )
        },
      ),
    )
  })
})
