import { type Static, Type } from '@sinclair/typebox'
import { quoted } from '../text/wording.ts'
import { maxAnswerLength } from './answer.ts'
import { error, type FlowProblem, warning } from './problem.ts'
import { closed, key, oneOf, text } from './values.ts'

/** What a step asks those who see it. Fields that an author does not set are absent everywhere. */

/** One of the answers that a question offers. */
export const QuestionChoice = closed({
  key: key('Your own name for the answer. Keep it over versions: its count belongs to it.'),
  label: text(1, 200, { description: 'What visitors read.' }),
})
export type QuestionChoice = Static<typeof QuestionChoice>

const maxChoices = 10

export const Question = closed(
  {
    type: oneOf(
      {
        rating: 'a number on a scale',
        choice: 'one of several answers, or more',
        text: 'words of their own',
      },
      { description: 'How it is answered.' },
    ),
    scale: Type.Optional(
      oneOf(
        {
          nps: '0 to 10, as for the Net Promoter Score',
          stars: 'one to five stars',
          numbers: 'from min to max',
        },
        { description: 'Scale of a rating. Defaults to nps.' },
      ),
    ),
    min: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1,
        description: 'Lowest number with "scale: numbers". Defaults to 1.',
      }),
    ),
    max: Type.Optional(
      Type.Integer({
        minimum: 2,
        maximum: 10,
        description: 'Highest number with "scale: numbers". Defaults to 5.',
      }),
    ),
    low: Type.Optional(
      text(1, 60, {
        description: 'What the lowest number of a rating means, such as "Not at all".',
      }),
    ),
    high: Type.Optional(text(1, 60, { description: 'What the highest number of a rating means.' })),
    choices: Type.Optional(
      Type.Array(QuestionChoice, {
        maxItems: maxChoices,
        description: 'Answers of a choice, 2 to 10.',
      }),
    ),
    several: Type.Optional(
      Type.Boolean({ description: 'Whether more than one answer of a choice can be selected.' }),
    ),
    placeholder: Type.Optional(
      text(1, 100, {
        description: 'Placeholder of a text field.',
      }),
    ),
    longest: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxAnswerLength,
        description: 'Maximum number of characters of a text. Defaults to 1000.',
      }),
    ),
    required: Type.Optional(
      Type.Boolean({ description: 'Whether it must be answered. If not, it can be skipped.' }),
    ),
  },
  {
    title: 'Question',
    description: 'Question of the step. Title and body ask it, and the answers are counted.',
  },
)
export type Question = Static<typeof Question>

/** The fields that only one type may have. */
const fieldsOf: Readonly<Record<Question['type'], readonly (keyof Question)[]>> = {
  rating: ['scale', 'min', 'max', 'low', 'high'],
  choice: ['choices', 'several'],
  text: ['placeholder', 'longest'],
}

/** Problems of a question by itself. */
export function* questionProblems(question: Question): Iterable<FlowProblem> {
  const { type, choices = [] } = question
  for (const [of, names] of Object.entries(fieldsOf)) {
    for (const name of names) {
      if (of === type || question[name] === undefined) continue
      const message = `This has no effect with "type: ${type}": remove it, or write "type: ${of}"`
      yield warning('unused_field', `/${name}`, message)
    }
  }
  if (type === 'rating' && (question.scale ?? 'nps') !== 'numbers') {
    for (const name of ['min', 'max'] as const) {
      if (question[name] === undefined) continue
      const message = 'This has no effect but with "scale: numbers": write that, or remove it'
      yield warning('unused_field', `/${name}`, message)
    }
  }
  if (type !== 'choice') return
  if (choices.length < 2) {
    yield error('few_choices', '/choices', 'Add choices to choose from: at least two')
  }
  const keys = new Set<string>()
  for (const [index, { key }] of choices.entries()) {
    if (keys.has(key)) {
      const message = `The key ${quoted(key)} is used already: change it`
      yield error('repeated_key', `/choices/${index}/key`, message)
    }
    keys.add(key)
  }
}
