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

test('steps that an older Cairn packed as JSON are read too', () => {
  const steps = [
    { stepId: 3, viewedAt: 10, completedAt: null, skippedAt: 12, missingAt: null },
    { stepId: 4, viewedAt: null, completedAt: null, skippedAt: null, missingAt: 9 },
  ]
  expect(unpackSteps('[[3,10,null,12,null],[4,null,null,null,9]]')).toEqual(steps)
  expect(packSteps(steps)).toBe('10 3v0s2 4m-1')
  expect(unpackSteps('[]')).toEqual([])
})
