import { questionTypes, ratingScales } from '../../../../core/flow/names.ts'
import type { Mapping } from '../../../../core/flow/plain.ts'
import { freeKey } from './entries.ts'
import { mappingsAt, textIn, textOf } from './flow-json.ts'
import type { Group } from './table.ts'

/** The fields of a step's question. */

const asks =
  (type: string, scale?: string) =>
  (step: Mapping): boolean =>
    textIn(step, 'question.type') === type &&
    (scale === undefined || textIn(step, 'question.scale') === scale)

export const question: Group = {
  title: 'Question',
  help: 'The title and the text ask it. Results count the answers.',
  optional: {
    at: 'question',
    add: 'Ask a question',
    remove: 'Remove question',
    fresh: { type: 'rating' },
  },
  fields: [
    {
      at: 'question.type',
      label: 'Answered by',
      as: 'cards',
      names: questionTypes,
      only: {
        rating: ['scale', 'min', 'max', 'low', 'high'].map(name => `question.${name}`),
        choice: ['question.choices', 'question.several'],
        text: ['question.placeholder', 'question.longest'],
      },
      begins: {
        choice: {
          at: 'question.choices',
          value: [
            { key: 'choice-1', label: 'Yes' },
            { key: 'choice-2', label: 'No' },
          ],
        },
      },
    },
    {
      at: 'question.scale',
      label: 'Scale',
      as: 'cards',
      names: ratingScales,
      chosen: () => 'nps',
      only: { numbers: ['question.min', 'question.max'] },
      shown: asks('rating'),
    },
    [
      {
        at: 'question.min',
        label: 'Lowest number',
        as: 'number',
        placeholder: '1',
        shown: asks('rating', 'numbers'),
      },
      {
        at: 'question.max',
        label: 'Highest number',
        as: 'number',
        placeholder: '5',
        shown: asks('rating', 'numbers'),
      },
    ],
    [
      {
        at: 'question.low',
        label: 'Label of the lowest',
        placeholder: 'Not at all',
        shown: asks('rating'),
      },
      {
        at: 'question.high',
        label: 'Label of the highest',
        placeholder: 'Very likely',
        shown: asks('rating'),
      },
    ],
    {
      at: 'question.choices',
      label: 'Choices',
      as: 'list',
      shown: asks('choice'),
      rows: {
        fields: [
          [
            { at: 'label', label: 'Choice' },
            { at: 'key', label: 'Key', as: 'code', help: 'Counts of the answer depend on it.' },
          ],
        ],
        one: 'Choice',
        add: 'Add choice',
        empty: 'No choices yet.',
        fresh: list => {
          const keys = mappingsAt(list as never, []).map(({ key }) => ({ key: textOf(key) }))
          return { key: freeKey(`choice-${keys.length + 1}`, keys), label: '' }
        },
        most: 10,
      },
    },
    {
      at: 'question.several',
      label: 'More than one can be chosen',
      as: 'check',
      shown: asks('choice'),
    },
    [
      { at: 'question.placeholder', label: 'Placeholder', shown: asks('text') },
      {
        at: 'question.longest',
        label: 'Maximum characters',
        as: 'number',
        placeholder: '1000',
        shown: asks('text'),
      },
    ],
    { at: 'question.required', label: 'Require an answer', as: 'check' },
  ],
}
