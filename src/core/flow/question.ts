import { type Static, Type } from '@sinclair/typebox'
import { maxAnswerLength } from './answer.ts'
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
