import { allOrAny, flowKinds, matchNames } from '../../../../core/flow/names.ts'
import type { Mapping } from '../../../../core/flow/plain.ts'
import { frequencyOf, kindOf, mappingsAt, textOf } from './flow-json.ts'
import type { Field, Group } from './table.ts'
import { themeGroups } from './theme-table.ts'

/** The fields of a flow as a whole, by part of the form. */

/** How an address is compared, and what with. */
export const pageFields = (at = ''): readonly Field[] => [
  { at: `${at}match`, label: 'Page address', as: 'choice', names: matchNames },
  { at: `${at}pattern`, label: 'Page', as: 'page' },
]

const isLauncher = (flow: Mapping) => kindOf(flow) === 'launcher'
const ofLauncher = (_: Mapping, flow: Mapping) => isLauncher(flow)
const ofChecklist = (_: Mapping, flow: Mapping) => !isLauncher(flow)

const iconNames = { help: 'Question mark', book: 'Book', bulb: 'Light bulb', gift: 'Gift' }
const sideNames = { end: 'Bottom right', start: 'Bottom left' }

export const details: readonly Group[] = [
  {
    fields: [
      { at: 'name', label: 'Name', as: 'name', help: 'What your team calls the flow.' },
      {
        at: 'title',
        label: 'Heading for visitors',
        help: 'What visitors read above a checklist or resource centre. Without it, they read the name.',
        placeholder: (_, flow) => textOf(flow.name),
      },
      { at: 'kind', label: 'Kind', as: 'kind', names: flowKinds, chosen: kindOf },
      {
        at: 'frequency',
        label: 'How often a person sees it',
        as: 'choice',
        names: { once: 'Once', until_completed: 'Until completed', always: 'Every time' },
        chosen: frequencyOf,
        shown: flow => kindOf(flow) !== 'launcher',
      },
      {
        at: 'checklist.order',
        label: 'Order of the items',
        as: 'choice',
        names: { any: 'Any order', sequence: 'In order' },
        shown: flow => kindOf(flow) === 'checklist',
      },
    ],
  },
  {
    title: 'Button',
    fields: [
      [
        { at: 'launcher.icon', label: 'Icon', as: 'choice', names: iconNames, shown: isLauncher },
        { at: 'launcher.side', label: 'Corner', as: 'choice', names: sideNames, shown: isLauncher },
      ],
      {
        at: 'launcher.iconOnly',
        label: 'Icon only',
        as: 'check',
        help: 'Hides the heading on the button.',
        shown: isLauncher,
      },
      {
        at: 'launcher.target',
        label: 'Use your own element instead',
        as: 'code',
        help: 'A CSS selector, such as that of your Help link. A click on the element opens the resource centre.',
        shown: isLauncher,
      },
    ],
  },
  { title: 'Appearance', isRare: true, fields: themeGroups.flatMap(({ fields }) => fields) },
  {
    title: 'Advanced',
    isRare: true,
    fields: [
      { at: 'priority', label: 'Priority', as: 'priority' },
      { at: 'key', label: 'Key', as: 'key', help: 'The name of the flow in files and in the API.' },
    ],
  },
]

export const pagesAndPeople: readonly Group[] = [
  {
    title: 'Pages',
    help: 'Pages that show the flow. In a pattern, * stands for any text without a slash, and ** for any text.',
    fields: [
      {
        at: 'targeting.urls',
        label: 'Pages',
        as: 'list',
        rows: {
          fields: [pageFields()],
          one: 'Page',
          add: 'Add page',
          empty: 'Every page shows the flow.',
          fresh: () => ({ match: 'prefix', pattern: '/' }),
          most: 50,
        },
      },
    ],
  },
  {
    title: 'People',
    fields: [
      {
        at: 'targeting.audience.segment',
        label: 'Use a segment',
        as: 'segment',
        help: 'Copies the rules of the segment. Later changes of the segment do not change the flow.',
      },
      {
        at: 'targeting.audience.match',
        label: 'Show to people who match',
        as: 'choice',
        names: allOrAny,
        shown: flow => mappingsAt(flow, ['targeting', 'audience', 'rules']).length > 1,
      },
      {
        at: 'targeting.audience.rules',
        label: 'Rules',
        as: 'list',
        rows: {
          fields: [{ at: '', label: 'Rule', as: 'rule' }],
          one: 'Rule',
          add: 'Add rule',
          empty: 'Everyone sees the flow.',
          fresh: () => ({ attribute: '', op: 'eq' }),
          most: 50,
        },
      },
    ],
  },
]

/** What the language part shows above its list. */
export const ownLanguage: readonly Group[] = [
  { fields: [{ at: 'locale', label: 'Written in', as: 'language' }] },
]

export const itemGroups: readonly Group[] = [
  {
    title: 'Text',
    fields: [
      { at: 'title', label: 'Title' },
      { at: 'description', label: 'Description', as: 'long' },
    ],
  },
  {
    title: 'Completed by',
    help: 'Without an event, a click on the item completes it.',
    fields: [{ at: 'completeOn.event', label: 'Event', clears: 'completeOn', shown: ofChecklist }],
  },
  {
    title: 'Opens',
    fields: [
      { at: 'href', label: 'Link', as: 'page', placeholder: '/help' },
      {
        at: 'flow',
        label: 'Flow to start',
        as: 'flow',
        help: 'A click on the item shows this flow.',
      },
      {
        at: 'announcements',
        label: 'List of announcements',
        as: 'check',
        help: 'Shows each person’s announcements, newest first. Unread ones are marked and counted.',
        shown: ofLauncher,
      },
    ],
  },
  {
    title: 'Advanced',
    isRare: true,
    fields: [{ at: 'key', label: 'Key', as: 'code', help: 'Results of the item depend on it.' }],
  },
]
