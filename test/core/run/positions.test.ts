import { describe, expect, test } from 'bun:test'
import { FlowPositions } from '../../../src/core/run/positions.ts'
import type { RunStep } from '../../../src/core/run/run.ts'

/** Version 2 puts step 3 first, adds 4 and drops 2. */
const positions = new FlowPositions({
  versions: [
    { version: 1, stepRefs: [1, 2, 3] },
    { version: 2, stepRefs: [3, 1, 4] },
  ],
})

const step = (stepId: number, viewedAt: number | null, rest: Partial<RunStep> = {}): RunStep => ({
  stepId,
  viewedAt,
  completedAt: null,
  skippedAt: null,
  missingAt: null,
  ...rest,
})

test('the newest version’s steps come first in its order, then older ones by their last place', () => {
  expect(positions.inOrder([1, 2, 3, 4])).toEqual([3, 1, 4, 2])
  expect(positions.inOrder([])).toEqual([3, 1, 4])
})

describe('the furthest step that a run viewed', () => {
  test.each<[string, RunStep[], number, number | null]>([
    ["is by the order of the run's own version", [step(1, 1), step(3, 2)], 1, 3],
    ['which another version turns round', [step(1, 1), step(3, 2)], 2, 1],
    ["yields to the run's own step at the same place", [step(2, 1), step(1, 2)], 2, 1],
    ['leaves out what was not viewed', [step(1, 1), step(3, null, { completedAt: 5 })], 1, 1],
    ['is none where nothing was viewed', [step(3, null, { missingAt: 5 })], 1, null],
  ])('%s', (_, steps, version, expected) => {
    expect(positions.furthest(steps, version)).toBe(expected)
    expect(positions.furthest(steps.toReversed(), version)).toBe(expected)
  })
})

describe('the time on a step', () => {
  test.each<[string, RunStep, RunStep[], number | null]>([
    ['ends with its completion', step(1, 10, { completedAt: 25 }), [step(2, 12)], 15],
    ['or its skip, whichever is first', step(1, 10, { completedAt: 25, skippedAt: 14 }), [], 4],
    ['is never below zero', step(1, 10, { completedAt: 5 }), [], 0],
    ['else ends with the view of a later step', step(1, 10), [step(3, 30), step(2, 22)], 12],
    ['not with one viewed before it', step(1, 10), [step(2, 9)], null],
    ['not with an earlier step', step(2, 10), [step(1, 15)], null],
    ['is none without a view', step(1, null, { completedAt: 5 }), [], null],
  ])('%s', (_, own, others, expected) => {
    expect(positions.durationMs(own, [own, ...others], 1)).toBe(expected)
  })
})
