import { expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import fc from 'fast-check'
import { applied, type ProposedChange } from '../../../src/core/flow/edit/proposed.ts'
import type { Mapping } from '../../../src/core/flow/plain.ts'
import { ProposedChange as Schema } from '../../../src/core/flow/proposed-change.ts'

/** What a page proposes about a draft, as laws. */

type Change = Exclude<ProposedChange, { do: 'undo' }>

const keys = ['a', 'b', 'c', 'd'] as const
const key = fc.constantFrom(...keys)
const after = fc.option(key)
const target = fc.option(
  fc.record(
    { selector: fc.constantFrom('#x', '.y'), alternates: fc.constant(['#z']) },
    { requiredKeys: ['selector'] },
  ),
)

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({
    do: fc.constant('set' as const),
    step: key,
    field: fc.constantFrom('title' as const, 'body' as const),
    value: fc.option(fc.string({ maxLength: 5 })),
  }),
  fc.record({ do: fc.constant('target' as const), step: key, target }),
  fc.record({
    do: fc.constant('add' as const),
    after,
    step: fc.record({ key, title: fc.string({ maxLength: 5 }), target }),
  }),
  fc.record({ do: fc.constant('move' as const), step: key, after }),
  fc.record({ do: fc.constant('delete' as const), step: key }),
) as fc.Arbitrary<Change>

const flow: fc.Arbitrary<Mapping> = fc
  .uniqueArray(key)
  .chain(chosen =>
    fc.tuple(
      ...chosen.map(key =>
        fc.record(
          {
            key: fc.constant(key),
            title: fc.string({ maxLength: 5 }),
            target: fc.constant({ selector: '#old', text: 'Old', waitMs: 5 }),
          },
          { requiredKeys: ['key'] },
        ),
      ),
    ),
  )
  .map(steps => ({ key: 'welcome', steps }) as unknown as Mapping)

test('a change that is taken twice is as if it was taken once', () => {
  fc.assert(
    fc.property(flow, change, (flow, change) => {
      const once = applied(flow, change)
      if (once) expect(applied(once.flow, change)).toBeNull()
    }),
  )
})

test('changes that are undone, the last one first, leave the flow as it was', () => {
  fc.assert(
    fc.property(flow, fc.array(change, { maxLength: 8 }), (flow, changes) => {
      const done: ((flow: Mapping) => Mapping)[] = []
      let now = flow
      for (const change of changes) {
        const made = applied(now, change)
        if (!made) continue
        now = made.flow
        done.push(made.undo)
      }
      expect(done.reduceRight((flow, undo) => undo(flow), now)).toEqual(flow)
    }),
  )
})

test('a change keeps the key of every step, and all of the flow beside its steps', () => {
  fc.assert(
    fc.property(flow, change, (flow, change) => {
      const steps = (applied(flow, change)?.flow.steps ?? []) as Mapping[]
      expect(new Set(steps.map(({ key }) => key)).size).toBe(steps.length)
      expect({ ...(applied(flow, change)?.flow ?? flow), steps: [] }).toEqual({
        ...flow,
        steps: [],
      })
    }),
  )
})

test('every change that the laws try is one that a page may send', () => {
  fc.assert(fc.property(change, change => expect(Value.Check(Schema, change)).toBe(true)))
})

test('an element that is picked anew is found in no way of the old one, and waited for as before', () => {
  const flow = {
    steps: [
      { key: 'a', target: { selector: '#a', text: 'A', nth: 2, waitMs: 9, onMissing: 'stop' } },
    ],
  }
  const made = applied(flow, { do: 'target', step: 'a', target: { selector: '#b' } })
  expect(made?.flow.steps).toEqual([
    { key: 'a', target: { selector: '#b', waitMs: 9, onMissing: 'stop' } },
  ])
})
