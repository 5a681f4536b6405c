import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { packSteps, unpackSteps } from '../../src/storage/run-rows.ts'

const moment = fc.option(fc.maxSafeInteger())
const step = fc.record({
  stepId: fc.nat(),
  viewedAt: moment,
  completedAt: moment,
  skippedAt: moment,
  missingAt: moment,
})

test('steps that are packed are JSON, and are unpacked as they were', () => {
  fc.assert(
    fc.property(fc.array(step), steps => {
      const packed = packSteps(steps)
      expect(unpackSteps(packed)).toEqual(steps)
      expect(JSON.parse(packed)).toEqual(steps.map(one => Object.values(one)))
    }),
  )
})
