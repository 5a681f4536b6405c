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
