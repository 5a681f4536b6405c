import type { FlowSource, PromotedSource } from '../../../core/flow/flow.ts'

/** Texts about flows. */
export const flowWords = {
  title: 'Flows',
  results: 'Results',
  pages: { health: 'Health', edit: 'Edit', versions: 'Versions', runs: 'Runs' },
  tabs: 'Pages of this flow',
  kinds: { tour: 'Tour', checklist: 'Checklist', announcement: 'Announcement' },
  statuses: { draft: 'Draft', published: 'Published', archived: 'Archived' },
  version: (version: number) => `v${version}`,
  waiting: 'Draft waiting',
  source: ({ repository, commit, path }: FlowSource) =>
    `Last pushed from ${repository} at ${commit.slice(0, 7)}${path === null ? '' : `, ${path}`}`,
  promotedFrom: ({ organisation, version }: PromotedSource) =>
    `Last promoted from ${organisation}, ${version === null ? 'a draft' : `version ${version}`}`,
  locked: 'Locked',
  health: {
    unknown: 'Not enough reports',
    healthy: 'Healthy',
    drifting: 'Drifting',
    flaky: 'Flaky',
    broken: 'Broken',
    none: 'No targets',
  },
  columns: {
    flow: 'Flow',
    status: 'State',
    starts: 'Starts',
    completion: 'Completion',
    median: 'Median time',
    health: 'Health',
    trend: 'Starts per day',
  },
  interval: (low: string, high: string) => `${low} to ${high}`,
  intervalMeans:
    'The share among all who may ever start it lies between these with 95% confidence (Wilson).',
  lastDays: (days: number, zone: string) => `Numbers of the last ${days} days, ${zone}`,
  empty: 'No flow yet',
  newFlow: 'New flow',
  emptyWhy: 'Write one here, or as a file and push it:',
  emptyCommand: 'cairn flows push tour.yaml',
  emptyManual: 'How to write a flow',
  filter: 'Find a flow',
  showArchived: 'Show archived',
  nothing: 'No matching flows',
}
