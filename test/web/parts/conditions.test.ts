import { expect, test } from 'bun:test'
import { answersTo } from '../../../src/web/dashboard/people/answer-options.ts'
import { conditionText } from '../../../src/web/dashboard/people/filter.ts'

/** Conditions of the list of people, as their dialog offers them and their chips say them. */

const step = (question: object) =>
  ({ key: 'score', title: 'How likely?', buttons: [], target: null, question }) as never

const namesOf = (question: object) => answersTo(step(question)).map(([, name]) => name)

test('a question offers the groups and numbers of its scale, or its choices', () => {
  expect(namesOf({ type: 'rating' })).toEqual([
    ...['Detractors (0 to 6)', 'Passives (7 and 8)', 'Promoters (9 and 10)'],
    ...Array.from({ length: 11 }, (_, i) => `${i}`),
  ])
  expect(namesOf({ type: 'rating', scale: 'numbers', min: 1, max: 3 })).toEqual([
    ...['2 or less', '2 or more', '1', '2', '3'],
  ])
  const choices = [{ key: 'tasks', label: 'Tasks' }]
  expect(answersTo(step({ type: 'choice', choices }))).toEqual([[{ choice: 'tasks' }, 'Tasks']])
  expect(namesOf({ type: 'text' })).toEqual([])
})

test('a condition is described by titles, or by keys while titles are unknown', () => {
  const described = (condition: object, steps: never[] = []) =>
    conditionText({ flow: 'nps', ...condition }, 'Survey', steps)
  const detractors = { answer: { step: 'score', from: 0, to: 6 } }
  const known = [step({ type: 'rating' })] as never[]
  expect(described({})).toBe('Survey: seen')
  expect(described(detractors, known)).toBe('Survey: answered “How likely?”: Detractors (0 to 6)')
  expect(described(detractors)).toBe('Survey: answered “score”: 0 to 6')
  expect(described({ outcome: 'dismissed', leftAt: 'score' }, known)).toBe(
    'Survey: dismissed, left at “How likely?”',
  )
})
