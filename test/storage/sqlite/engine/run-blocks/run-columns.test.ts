import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { FlowPositions } from '../../../../../src/core/run/positions.ts'
import { packTraits } from '../../../../../src/core/run/run.ts'
import { takeRuns } from '../../../../../src/storage/interfaces/analytics.ts'
import {
  decodeBlock,
  encodeBlock,
} from '../../../../../src/storage/sqlite/engine/run-blocks/block-bytes.ts'
import {
  type ColumnRun,
  RunColumnsBuilder,
} from '../../../../../src/storage/sqlite/engine/run-blocks/run-columns.ts'
import { runsOf } from '../../../../support/run-columns.ts'

/** Twenty steps in two versions: more than one byte of them, and some only of the other version. */
const stepRefs = Array.from({ length: 20 }, (_, i) => i + 1)
const positions = new FlowPositions({
  versions: [
    { version: 1, stepRefs: stepRefs.slice(0, 12) },
    { version: 2, stepRefs: stepRefs.slice(6).toReversed() },
  ],
})

const from = Date.UTC(2026, 0, 1)
const moment = fc.option(fc.integer({ min: from, max: from + 10_000_000 }), { freq: 2 })
const stepArbitrary = fc.record({
  stepId: fc.constantFrom(...stepRefs),
  viewedAt: moment,
  completedAt: moment,
  skippedAt: moment,
  missingAt: moment,
})

const runsArbitrary = fc
  .array(
    fc.record({
      startedAt: fc.integer({ min: from, max: from + 1_000_000 }),
      lastAt: fc.integer({ min: from, max: from + 90 * 86_400_000 }),
      person: fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }),
      version: fc.constantFrom(1, 2),
      completedAt: moment,
      dismissedAt: moment,
      steps: fc.uniqueArray(stepArbitrary, { selector: step => step.stepId, maxLength: 8 }),
      items: fc.uniqueArray(fc.constantFrom(...stepRefs), { maxLength: 12 }),
      hasCompletedChecklist: fc.boolean(),
      traits: fc.option(
        fc
          .constantFrom({ plan: 'pro' }, { plan: 'free', size: '2' }, { size: '30' })
          .map(traits => packTraits(from, JSON.stringify(traits))),
        { nil: null },
      ),
    }),
    { maxLength: 30 },
  )
  .map(runs => runs.toSorted((a, b) => a.startedAt - b.startedAt))

function columnsOf(runs: readonly ColumnRun[]) {
  const builder = new RunColumnsBuilder(positions, from, runs.length, from + 20_000_000)
  for (const run of runs) builder.add(run)
  return builder.finish()
}

test('decoding a block’s bytes gives its columns again', () => {
  fc.assert(
    fc.property(runsArbitrary, fc.nat({ max: 9 }), (runs, shift) => {
      const columns = columnsOf(runs)
      const bytes = encodeBlock(columns)
      // Even if they start unaligned in a larger buffer.
      const held = new Uint8Array(bytes.length + shift)
      held.set(bytes, shift)
      for (const given of [bytes, held.subarray(shift)]) {
        expect(decodeBlock(given)).toEqual(columns)
      }
    }),
  )
})

test('some runs taken out of columns are the same as columns of those runs alone', () => {
  fc.assert(
    fc.property(runsArbitrary, fc.infiniteStream(fc.boolean()), (runs, choices) => {
      const places = runs.map((_, place) => place).filter(() => choices.next().value)
      const all = columnsOf(runs)
      const some = takeRuns(all, Uint32Array.from(places))
      const alone = columnsOf(places.map(place => runs[place]!))
      expect(runsOf(some)).toEqual(runsOf(alone))
      const countsOf = ({ steps }: typeof some) =>
        steps
          .filter(({ counts }) => counts.some(count => count > 0))
          .toSorted((a, b) => a.ref - b.ref)
      expect(countsOf(some)).toEqual(countsOf(alone))
    }),
  )
})

test('columns depend on the newest version if a run saw a step that its own version lacks', () => {
  const run: ColumnRun = {
    startedAt: from,
    lastAt: from,
    person: 1n,
    version: 1,
    completedAt: null,
    dismissedAt: null,
    steps: [{ stepId: 1, viewedAt: from, completedAt: null, skippedAt: null, missingAt: null }],
    traits: null,
    items: [],
    hasCompletedChecklist: false,
  }
  expect(columnsOf([run]).dependsOnNewest).toBe(false)
  expect(columnsOf([{ ...run, version: 2 }]).dependsOnNewest).toBe(true)
})
