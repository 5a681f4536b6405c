/** Texts about runs by traits. */
export const segmentWords = {
  title: 'By trait',
  by: 'By',
  nothing: 'Nothing',
  choose: 'Choose a trait to see completion by it, such as the plan that people are on.',
  empty: 'No trait is listed',
  emptyWhy:
    'Pages say traits of people with identify(), such as their plan. They stay in the browser, but for those that an owner lists: completion can be told by these.',
  list: 'List a trait',
  manual: 'How traits are counted',
  caption: (trait: string) =>
    `Completion by ${trait}, as it was when each run started, with the interval in which it lies with 95% confidence.`,
  values: { not_said: 'Not said' },
  others: (values: number) => `${values} other ${values === 1 ? 'value' : 'values'}`,
  notSaidWhy:
    '“Not said” are runs whose page said nothing of the trait, or that started before it was listed.',
  none: 'Nobody started this in the range.',
  only: (trait: string) => `Only runs of ${trait}`,
  isNotSaid: 'not said',
  all: 'Show all runs',
  show: (value: string) => `Show only runs of ${value}`,
  starts: 'Starts',
  people: 'People',
  completions: 'Completed',
  dismissed: 'Dismissed',
  rate: 'Completion',
  interval: '95% interval',
  median: 'Median time',
  csv: 'Download (CSV)',
}
