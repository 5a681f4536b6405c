import { describe, expect, test } from 'bun:test'
import { type Answer, fitsQuestion } from '../../../src/core/flow/answer.ts'
import { StepDefinition } from '../../../src/core/flow/flow.ts'
import { problemsOf } from '../../../src/core/flow/lint.ts'
import type { Question } from '../../../src/core/flow/question.ts'

const ab = [
  { key: 'a', label: 'A' },
  { key: 'b', label: 'B' },
]

describe('an answer', () => {
  test.each<[Question, Answer[], Answer[]]>([
    [{ type: 'rating' }, [0, 10], [-1, 11, 2.5, 'a', []]],
    [{ type: 'rating', scale: 'stars' }, [1, 5], [0, 6]],
    [{ type: 'rating', scale: 'numbers', min: 0, max: 3 }, [0, 3], [4, '3']],
    [{ type: 'choice', choices: ab }, ['a', 'b'], ['c', 1, ['a'], '']],
    [
      { type: 'choice', choices: ab, several: true },
      [['a'], ['b', 'a'], 'a'],
      [[], ['a', 'a'], ['c']],
    ],
    [{ type: 'text' }, ['x', 'x'.repeat(1_000)], ['', '  ', 'x'.repeat(1_001), 3]],
    [{ type: 'text', longest: 2 }, ['ab'], ['abc']],
  ])('to %p', (question, fitting, others) => {
    expect(fitting.filter(answer => !fitsQuestion(question, answer))).toEqual([])
    expect(others.filter(answer => fitsQuestion(question, answer))).toEqual([])
  })
})

test.each<[Question, string[]]>([
  [{ type: 'rating' }, []],
  [{ type: 'text', placeholder: 'Say it' }, []],
  [{ type: 'choice', choices: ab }, []],
  [{ type: 'choice' }, ['error /choices']],
  [{ type: 'choice', choices: ab.slice(1) }, ['error /choices']],
  [{ type: 'choice', choices: [...ab, ...ab.slice(1)] }, ['error /choices/2/key']],
  [{ type: 'rating', choices: ab }, ['warning /choices']],
  [{ type: 'text', low: 'Bad' }, ['warning /low']],
  [{ type: 'rating', scale: 'nps', max: 5 }, ['warning /max']],
])('the question %p has the expected problems', (question, expected) => {
  const schema = StepDefinition.properties.question
  const problems = problemsOf({ schema, value: question, path: '' })
  expect(problems.map(({ severity, path }) => `${severity} ${path}`)).toEqual(expected)
})
