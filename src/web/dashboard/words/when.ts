/** Texts about how often a person is interrupted. */
export const throttleWords = {
  why: 'However many flows are due, a person is not interrupted more often than this. Checklists wait beside the page and do not count, nor does what your page starts itself.',
  legend: 'How often a person is interrupted',
  usual: 'As often as flows are due',
  own: 'At most this often',
  label: 'Tours and announcements in 24 hours',
  hint: '1 to 100, for one person. Who is in the middle of a flow goes on.',
  badNumber: 'Must be a whole number, 1 to 100',
  saved: (times: number) =>
    `A person is interrupted ${times === 1 ? 'once' : `${times} times`} in 24 hours at most now.`,
  savedUsual: 'People are interrupted as often as flows are due now.',
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
