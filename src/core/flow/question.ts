import { type Static, Type } from '@sinclair/typebox'
import { quoted } from '../text/wording.ts'
import { maxAnswerLength } from './answer.ts'
import { error, type FlowProblem, warning } from './problem.ts'
import { closed, key, oneOf, text } from './values.ts'

/** What a step asks those who see it. Fields that an author does not set are absent everywhere. */

/** One of the answers that a question offers. */
export const QuestionChoice = closed({
  key: key('Your own name for the answer; its count hangs from it: keep it over versions.'),
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
          nps: '0 to 10, as the Net Promoter Score has it',
          stars: 'one to five stars',
          numbers: 'from min to max',
        },
        { description: 'Of a rating: its scale; nps where left out.' },
      ),
    ),
    min: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1,
        description: 'Least number of "scale: numbers"; 1 where left out.',
      }),
    ),
    max: Type.Optional(
      Type.Integer({
        minimum: 2,
        maximum: 10,
        description: 'Greatest number of "scale: numbers"; 5 where left out.',
      }),
    ),
    low: Type.Optional(
      text(1, 60, {
        description: 'Of a rating: what the least number means, such as "Not at all".',
      }),
    ),
    high: Type.Optional(
      text(1, 60, { description: 'Of a rating: what the greatest number means.' }),
    ),
    choices: Type.Optional(
      Type.Array(QuestionChoice, {
        maxItems: maxChoices,
        description: 'Of a choice: the answers, 2 to 10.',
      }),
    ),
    several: Type.Optional(
      Type.Boolean({ description: 'Of a choice: whether more than one can be chosen.' }),
    ),
    placeholder: Type.Optional(
      text(1, 100, {
        description: 'Of a text: what stands in the field before anything is written.',
      }),
    ),
    longest: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxAnswerLength,
        description: 'Of a text: how many characters it takes at most; 1000 where left out.',
      }),
    ),
    required: Type.Optional(
      Type.Boolean({ description: 'Whether it has to be answered; else it can be skipped.' }),
    ),
  },
  {
    title: 'Question',
    description: 'What the step asks: its title and body are the words, and the answer is counted.',
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
