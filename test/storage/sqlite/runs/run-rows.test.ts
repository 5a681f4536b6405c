import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { packSteps, unpackSteps } from '../../../../src/storage/sqlite/runs/run-rows.ts'

const at = fc.option(fc.integer({ min: 0, max: 4_102_444_800_000 }), { nil: null })
const step = fc.record({
  stepId: fc.integer({ min: 1 }),
  viewedAt: at,
  completedAt: at,
  skippedAt: at,
  missingAt: at,
})

test('steps are read as they were packed, in any order of their times', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), steps => {
      expect(unpackSteps(packSteps(steps))).toEqual(steps)
    }),
  )
})
