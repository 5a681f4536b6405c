/** Texts about how a step did day by day. */
export const historyWords = {
  title: 'The last 30 days',
  found: 'found it',
  makeshift: 'found it by another way',
  misses: 'missed it',
  heads: {
    day: 'Day',
    state: 'State',
    people: 'People',
    found: 'Found',
    makeshift: 'By another way',
    misses: 'Missed',
    share: 'Share that found it',
    versions: 'Versions',
  },
  caption: (step: string) => `People by day, by whether they found the element of “${step}”.`,
  picture: (days: number, changes: string) =>
    `People who found the element, by day: ${days} ${days === 1 ? 'day' : 'days'} with reports. ${changes} The table below has every day.`,
  change: (state: string, day: string) => `${state} from ${day}`,
  noChange: 'Its state has not changed.',
  none: 'Nobody has reported of it in these days.',
  open: (day: string) => `${day}, not over yet`,
  today: 'today, not over yet',
  csv: 'CSV',
  csvOf: 'Days of every step as CSV',
}
