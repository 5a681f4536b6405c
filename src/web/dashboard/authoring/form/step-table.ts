import { allOrAny, buttonActions } from '../../../../core/flow/names.ts'
import { mappingsAt, textIn } from './flow-json.ts'
import { pageFields } from './flow-tables.ts'
import { question } from './question-table.ts'
import { finding, media, place } from './step-look-table.ts'
import type { Group } from './table.ts'

/** The fields of a step. */

const buttons: Group = {
  title: 'Buttons',
  fields: [
    {
      at: 'buttons',
      label: 'Buttons',
      as: 'list',
      rows: {
        fields: [
          [
            { at: 'label', label: 'Label' },
            {
              at: 'action',
              label: 'Action',
              as: 'choice',
              names: buttonActions,
              only: { link: ['href'], next: ['goto'], start: ['flow'] },
            },
            {
              at: 'goto',
              label: 'Go to step',
              as: 'step',
              none: 'The next one',
              shown: ({ action }) => action === 'next',
            },
            {
              at: 'href',
              label: 'Link',
              as: 'page',
              placeholder: '/help',
              shown: ({ action }) => action === 'link',
            },
            {
              at: 'flow',
              label: 'Flow to start',
              as: 'flow',
              shown: ({ action }) => action === 'start',
            },
          ],
        ],
        one: 'Button',
        add: 'Add button',
        empty: 'Default: a Next or Done button.',
        fresh: () => ({ label: 'Next', action: 'next' }),
        most: 5,
      },
    },
  ],
}

const advance: Group = {
  title: 'Continue',
  fields: [
    [
      {
        at: 'advance.on',
        label: 'Continue on',
        as: 'choice',
        names: { button: 'A button', click: 'A click on the element', event: 'An event' },
        only: { event: ['advance.event'] },
      },
      {
        at: 'advance.event',
        label: 'Event',
        shown: step => textIn(step, 'advance.on') === 'event',
      },
    ],
  ],
}

/** Rare settings: on which page the step stands, and for whom it is left out. */
const advanced: readonly Group[] = [
  {
    title: 'Page of this step',
    isRare: true,
    optional: {
      at: 'page',
      add: 'Set a page',
      remove: 'Any page of the flow',
      fresh: { match: 'exact', pattern: '/' },
    },
    fields: [pageFields('page.')],
  },
  {
    title: 'Advanced',
    isRare: true,
    fields: [
      {
        at: 'navigate',
        label: 'Page to open',
        as: 'page',
        placeholder: '/settings/people',
        help: 'The tour leads visitors to this page for the step.',
      },
      {
        at: 'when.match',
        label: 'Show this step if',
        as: 'choice',
        names: allOrAny,
        shown: step => mappingsAt(step, ['when', 'rules']).length > 1,
      },
      {
        at: 'when.rules',
        label: 'Rules',
        as: 'list',
        rows: {
          fields: [{ at: '', label: 'Rule', as: 'rule' }],
          one: 'Rule',
          add: 'Add rule',
          empty: 'Always shown.',
          fresh: () => ({ attribute: '', op: 'eq' }),
          most: 20,
        },
      },
      { at: 'key', label: 'Key', as: 'code', help: 'Results of the step depend on it.' },
    ],
  },
]

export const stepGroups: readonly Group[] = [
  {
    title: 'Text',
    fields: [
      { at: 'title', label: 'Title' },
      {
        at: 'body',
        label: 'Text',
        as: 'long',
        help: 'You can use Markdown: **bold**, _italic_, [links](/help).',
      },
    ],
  },
  { title: 'Type and element', fields: place },
  { title: 'Finding the element', isRare: true, fields: finding },
  { title: 'Media', isRare: true, fields: media },
  question,
  buttons,
  advance,
  ...advanced,
]
