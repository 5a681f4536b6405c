import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { checklistHistory, type Tick } from '../../../src/core/run/checklist.ts'

const tick = (itemId: number, at: number, person = 'u'): Tick => ({
  person,
  itemId,
  at,
  ticked: true,
  runKey: '',
})
const untick = (itemId: number, at: number, person = 'u'): Tick => ({
  ...tick(itemId, at, person),
  ticked: false,
})
const both = () => [1, 2]

describe('the state of items', () => {
  test.each<[string, Tick[], [number, number][]]>([
    ['a ticked item stands since its first tick', [tick(1, 5), tick(1, 9)], [[1, 5]]],
    ['the last write counts', [tick(1, 5), untick(1, 7)], []],
    ['a tick after a taking back begins anew', [tick(1, 5), untick(1, 7), tick(1, 9)], [[1, 9]]],
    ['at the same moment the taking back counts', [tick(1, 5), untick(1, 5)], []],
    ['items do not touch each other', [tick(1, 5), untick(2, 7)], [[1, 5]]],
    ['it is enough that it does for one', [tick(1, 5), tick(1, 6, 'v'), untick(1, 7)], [[1, 5]]],
    ['one takes back their own', [tick(1, 5), untick(1, 7, 'v')], [[1, 5]]],
  ])('%s', (_, ticks, expected) => {
    expect([...checklistHistory(ticks, both).states]).toEqual(expected)
    expect([...checklistHistory(ticks.toReversed(), both).states]).toEqual(expected)
  })
})

describe('when a checklist is complete', () => {
  const passes = (ticks: Tick[], itemsAt: (at: number) => number[] = both) =>
    checklistHistory(ticks, itemsAt).passes.map(({ at }) => at)

  test.each<[string, Tick[], number[]]>([
    ["at its last item's first tick", [tick(1, 5), tick(2, 8), tick(1, 9)], [8]],
    ['never with an item missing', [tick(1, 5)], []],
    ['not while one was taken back', [tick(1, 5), untick(1, 6), tick(2, 8)], []],
    ['a later taking back does not undo it', [tick(1, 5), tick(2, 8), untick(1, 9)], [8]],
    ['each time anew', [tick(1, 5), tick(2, 8), untick(1, 9), tick(1, 12)], [8, 12]],
    ['not in the midst of a moment', [tick(1, 5), untick(1, 7), tick(2, 7)], []],
    ['when people who count together share it', [tick(1, 5), tick(2, 8, 'v')], [8]],
  ])('%s', (_, ticks, expected) => {
    expect(passes(ticks)).toEqual(expected)
  })

  test('a flow without items is never completed by ticks', () => {
    expect(passes([tick(1, 5)], () => [])).toEqual([])
  })

  test('the items are those of the version at the moment of the tick', () => {
    expect(passes([tick(1, 5), tick(3, 12)], at => (at < 10 ? [1, 2] : [1]))).toEqual([12])
  })

  test('a version with one more item needs one more tick', () => {
    const itemsAt = (at: number) => (at < 10 ? [1] : [1, 2])
    expect(passes([tick(1, 5), tick(1, 11), tick(2, 12)], itemsAt)).toEqual([5, 12])
  })

  test('the order in which ticks arrive changes nothing', () => {
    const ticks = fc.array(
      fc.record({
        person: fc.constantFrom('u', 'v'),
        itemId: fc.integer({ min: 1, max: 3 }),
        at: fc.integer({ min: 0, max: 9 }),
        ticked: fc.boolean(),
        runKey: fc.constant(''),
      }),
    )
    fc.assert(
      fc.property(
        ticks.chain(all =>
          fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
        ),
        ([all, shuffled]) => {
          const [a, b] = [all, shuffled].map(given => checklistHistory(given, both))
          expect(a!.passes.map(({ at }) => at)).toEqual(b!.passes.map(({ at }) => at))
          expect(new Map([...a!.states].sort())).toEqual(new Map([...b!.states].sort()))
        },
      ),
    )
  })
})
