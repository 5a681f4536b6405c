import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  type HealthCounts,
  healthOutcomes,
  noHealthCounts,
  type StepState,
  stepState,
} from '../../../src/core/step/health.ts'

const counts = (some: Partial<HealthCounts>): HealthCounts => ({ ...noHealthCounts(), ...some })

const anyCounts = fc.record(
  Object.fromEntries(healthOutcomes.map(outcome => [outcome, fc.nat({ max: 40 })])),
) as fc.Arbitrary<HealthCounts>

describe('stepState', () => {
  const table: [Partial<HealthCounts>, StepState, number | null, number][] = [
    [{}, 'unknown', null, 0],
    [{ found: 4 }, 'unknown', 1, 4],
    [{ not_found: 4 }, 'unknown', 0, 4],
    [{ found: 5 }, 'healthy', 1, 5],
    [{ found: 96, not_found: 4 }, 'healthy', 0.96, 100],
    [{ found: 20, not_found: 1 }, 'healthy', 0.9524, 21],
    [{ found: 19, not_found: 1 }, 'flaky', 0.95, 20],
    [{ found: 95, hidden: 2, ambiguous: 2, error: 1 }, 'flaky', 0.95, 100],
    [{ found: 81, found_by_alternate: 10, changed: 9 }, 'healthy', 1, 100],
    [{ found: 80, found_by_alternate: 20 }, 'drifting', 1, 100],
    [{ found: 80, changed: 20 }, 'drifting', 1, 100],
    [{ found: 4, changed: 1 }, 'drifting', 1, 5],
    [{ changed: 5 }, 'drifting', 1, 5],
    // a fifth of the finds, not of the people
    [{ found: 78, changed: 19, error: 3 }, 'healthy', 0.97, 100],
    [{ found: 77, changed: 20, error: 3 }, 'drifting', 0.97, 100],
    [{ found: 40, changed: 50, error: 10 }, 'flaky', 0.9, 100],
    [{ found: 51, not_found: 49 }, 'flaky', 0.51, 100],
    [{ found: 50, not_found: 50 }, 'broken', 0.5, 100],
    [{ found: 1, not_found: 1, hidden: 1, ambiguous: 1, error: 1 }, 'broken', 0.2, 5],
    [{ not_found: 5 }, 'broken', 0, 5],
  ]
  test.each(table)('%j is %s, %p of %p', (some, state, okRate, reports) => {
    expect(stepState(counts(some), { required: true })).toEqual({ state, okRate, reports })
  })

  test('a target that is not required is flaky where it would be broken, and else the same', () => {
    fc.assert(
      fc.property(anyCounts, some => {
        const required = stepState(some, { required: true })
        const state = required.state === 'broken' ? 'flaky' : required.state
        expect(stepState(some, { required: false })).toEqual({ ...required, state })
      }),
    )
  })
})
