/** Texts about flows. */
export const flowWords = {
  title: 'Flows',
  results: 'Results',
  pages: { health: 'Health', edit: 'Edit', versions: 'Versions', runs: 'Runs' },
  kinds: { tour: 'Tour', checklist: 'Checklist', announcement: 'Announcement' },
  version: (version: number) => `v${version}`,
  waiting: 'Unpublished draft',
  health: {
    unknown: 'Not enough reports',
    healthy: 'Healthy',
    drifting: 'Drifting',
    flaky: 'Flaky',
    broken: 'Broken',
    none: 'No targets',
  },
  interval: (low: string, high: string) => `${low} to ${high}`,
  intervalMeans: '95% confidence interval of the completion rate (Wilson)',
  lastDays: (days: number, zone: string) => `Last ${days} days, ${zone}`,
  newFlow: 'New flow',
}
