/** Texts about whether a flow makes people reach its goal. */
export const experimentWords = {
  title: 'What it changes',
  why: (goal: string) =>
    `People who caused “${goal}”, of those who saw the flow and of those who were held back from it.`,
  group: 'People',
  people: 'In all',
  achieved: 'Reached the goal',
  rate: 'Share',
  shown: 'Saw the flow',
  heldOut: 'Were held back',
  nobody: 'One of the two groups has nobody in it yet, so there is nothing to compare.',
  difference: (points: string, low: string, high: string) =>
    `The flow changes the share by ${points} percentage points (95 %: ${low} to ${high}).`,
  mayBeChance: 'It may be chance: no difference at all is within that range too.',
  bySegment: 'Not told for a segment: nothing is known of the traits of those who were held back.',
} as const

/** Texts in the form about when a flow begins, and for how many people. */
export const whenWords = {
  part: 'When',
  schedule: 'Between two times',
  from: 'From',
  to: 'To',
  fromHint: 'When the flow begins to be shown. Without a time, as the day begins.',
  toHint:
    'When it begins for nobody any more. Without a time, at the end of the day. Who is in the middle of it may finish it.',
  timeOf: (name: string) => `${name}: time, if not the whole day`,
  timezone: 'Time zone',
  happened: 'Once this has happened',
  delayMs: 'After so long on the page, milliseconds',
  after: 'After another flow',
  afterNone: 'None',
  event: 'Event',
  count: 'How often',
  within: 'Within',
  element: 'Element on the page',
  people: 'For how many',
  percent: 'Percent of people',
  holdOut: 'Held back, percent',
  goal: 'Goal: event',
} as const

/** Texts about where, to whom and when a flow is shown, before it is published. */
export const meantForWords = {
  pages: 'Pages',
  everyPage: 'Every page',
  address: (rules: string) => `Those whose address ${rules}`,
  people: 'People',
  everybody: 'Everybody',
  share: (percent: number, who: string) => `${who}, of whom ${percent} %`,
  time: 'When',
  always: 'As long as it is published',
  between: (from: string | undefined, to: string | undefined, zone: string) =>
    `${[from && `From ${from}`, to && `${from ? 'to' : 'To'} ${to}`].filter(Boolean).join(' ')}, ${zone}`,
  joints: { all: ' and ', any: ' or ' },
  more: (count: number) => `${count} more`,
} as const
