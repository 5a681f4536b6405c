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
