import { aligns, sides, stepKinds } from '../../../../core/flow/names.ts'
import type { Mapping } from '../../../../core/flow/plain.ts'
import { kindOf, stepKindOf, textIn } from './flow-json.ts'
import type { Group } from './table.ts'

/** The fields of a step that say how it looks and where it stands. */

type Rows = Group['fields']

const isKind =
  (...kinds: string[]) =>
  (step: Mapping) =>
    kinds.includes(stepKindOf(step))

const isPlaced = (step: Mapping) =>
  step.target !== undefined || isKind('tooltip', 'hotspot', 'slideout')(step)

const hasElement = (step: Mapping) => textIn(step, 'target.selector') !== ''

export const place: Rows = [
  { at: 'kind', label: 'Type', as: 'cards', names: stepKinds, chosen: stepKindOf },
  {
    at: 'target.selector',
    label: 'Element',
    as: 'element',
    clears: 'target',
    shown: (step, flow) => kindOf(flow) !== 'announcement' || isKind('tooltip', 'hotspot')(step),
  },
  [
    {
      at: 'placement.side',
      label: 'Side',
      as: 'choice',
      names: sides,
      shown: isPlaced,
    },
    {
      at: 'placement.align',
      label: 'Align',
      as: 'choice',
      names: aligns,
      shown: isPlaced,
    },
  ],
  [
    {
      at: 'banner.edge',
      label: 'Edge',
      as: 'choice',
      names: { top: 'Top', bottom: 'Bottom' },
      shown: isKind('banner'),
    },
    {
      at: 'banner.layout',
      label: 'Layout',
      as: 'choice',
      names: { float: 'Over the page', push: 'The page makes room' },
      shown: isKind('banner'),
    },
  ],
  {
    at: 'opens',
    label: 'The dot opens on',
    as: 'choice',
    names: { click: 'Click', hover: 'Mouse over it or keyboard focus' },
    chosen: () => 'click',
    shown: isKind('hotspot'),
  },
  {
    at: 'spotlight',
    label: 'Spotlight',
    as: 'choice',
    names: { off: 'Off', dim: 'Dim the page', block: 'Dim and block the page' },
    none: 'As in the theme',
    shown: isKind('tooltip', 'hotspot'),
  },
]

export const finding: Rows = [
  {
    at: 'target.alternates',
    label: 'Other selectors',
    as: 'lines',
    hint: 'One per line. Used if the first one finds nothing.',
    shown: hasElement,
  },
  [
    {
      at: 'target.text',
      label: 'Text of the element',
      help: 'Needed if the selector finds several elements.',
      shown: hasElement,
    },
    {
      at: 'target.nth',
      label: 'Match number',
      as: 'place',
      help: 'Which of several elements. The first is 1.',
      shown: hasElement,
    },
  ],
  [
    {
      at: 'target.onMissing',
      label: 'If the element is missing',
      as: 'choice',
      names: { skip: 'Skip the step', wait: 'Wait', stop: 'End the flow' },
      shown: hasElement,
    },
    {
      at: 'target.waitMs',
      label: 'Wait for the element',
      unit: 'seconds',
      as: 'seconds',
      shown: hasElement,
    },
  ],
  {
    at: 'target.required',
    label: 'Require the element',
    as: 'check',
    help: 'Otherwise the step is shown without it.',
    shown: hasElement,
  },
  { at: 'target.fingerprint', label: 'Element snapshot', as: 'snapshot', shown: () => false },
]

export const media: Rows = [
  { at: 'media.image', label: 'Image', as: 'image', shown: step => !textIn(step, 'media.video') },
  {
    at: 'media.alt',
    label: 'Alternative text',
    hint: 'What the image shows, for people who cannot see it.',
    shown: step => step.media !== undefined,
  },
  { at: 'media.video', label: 'Video', as: 'code', shown: step => !textIn(step, 'media.image') },
  [
    {
      at: 'media.poster',
      label: 'Picture before it plays',
      as: 'code',
      shown: step => !!textIn(step, 'media.video'),
    },
    {
      at: 'media.captions',
      label: 'Captions',
      as: 'code',
      help: 'The address of a WebVTT file.',
      shown: step => !!textIn(step, 'media.video'),
    },
  ],
  [
    {
      at: 'media.width',
      label: 'Width',
      unit: 'pixels',
      as: 'number',
      shown: step => step.media !== undefined,
    },
    {
      at: 'media.height',
      label: 'Height',
      unit: 'pixels',
      as: 'number',
      shown: step => step.media !== undefined,
    },
  ],
]
