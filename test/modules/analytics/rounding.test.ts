import { describe, expect, test } from 'bun:test'
import type { Question } from '../../../src/core/flow/question.ts'
import { AnswerTally } from '../../../src/modules/analytics/answers.ts'
import { experimentOf } from '../../../src/modules/analytics/experiment.ts'

/** Averages, scores and differences are computed from whole numbers, and halves are rounded away from zero. */

const ratings = (question: Question, counts: Record<number, number>) => {
  const tally = new AnswerTally()
  const stepId = 1 as never
  for (const [answer, count] of Object.entries(counts)) {
    const run = { version: 1, traits: null, answers: [{ stepId, answer }] }
    for (let i = 0; i < count; i++) tally.add(run as never)
  }
  return tally.of(stepId, [question])
}

describe('ratings', () => {
  test.each([
    [{ 1: 199, 2: 1 }, 1.01],
    [{ 1: 39, 2: 1 }, 1.03],
    [{ 4: 7, 5: 1 }, 4.13],
    [{ 1: 1, 2: 1 }, 1.5],
    [{}, null],
  ])('%j have the average %p', (counts, average) => {
    expect(ratings({ type: 'rating', scale: 'stars' } as Question, counts).average).toBe(average)
  })

  test('below zero have an average that is rounded as above', () => {
    const question = { type: 'rating', scale: 'numbers', min: -5, max: 5 } as Question
    expect(ratings(question, { [-1]: 199, [-2]: 1 }).average).toBe(-1.01)
  })

  test.each([
    [{ 8: 15, 10: 1 }, 6.3],
    [{ 8: 15, 0: 1 }, -6.3],
    [{ 8: 79, 9: 1 }, 1.3],
    [{ 8: 79, 6: 1 }, -1.3],
    [{ 9: 3, 0: 3 }, 0],
  ])('%j have the Net Promoter Score %p', (counts, score) => {
    expect(ratings({ type: 'rating' } as Question, counts).nps?.score).toBe(score)
  })
})

test.each([
  // From the second on, each is a half in its fifth decimal.
  [[1, 8], [1, 2_500], 0.1246],
  [[1, 8], [1, 20_000], 0.125],
  [[0, 8], [1, 20_000], -0.0001],
  [[57, 800], [0, 7], 0.0713],
  [[0, 7], [57, 800], -0.0713],
] as const)('%p shown less %p held back is %p', (shown, heldOut, difference) => {
  const group = ([achieved, people]: readonly [number, number]) => ({ people, achieved })
  const counts = { shown: group(shown), heldOut: group(heldOut) }
  expect(experimentOf('bought', counts).difference).toBe(difference)
})
