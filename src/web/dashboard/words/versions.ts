/** Texts about versions and drafts. */
export const versionWords = {
  draft: 'Draft',
  draftWaits: 'Draft waiting',
  notShown: (version: number) => `Version ${version} is not shown`,
  theDraft: 'the draft',
  side: (version: number) => `version ${version}`,
  changedAt: (time: string) => `Last changed ${time}`,
  noDraft: 'No draft waits: there is nothing newer than what is listed.',
  first: (steps: number, items: number) =>
    `It was never published. It has ${steps} ${steps === 1 ? 'step' : 'steps'}${items === 0 ? '' : ` and ${items} ${items === 1 ? 'item' : 'items'}`}.`,

  same: 'Nothing differs.',
  steps: {
    added: 'Steps added',
    returning: 'Steps brought back',
    removed: 'Steps removed',
    moved: 'Steps moved',
  },
  items: {
    added: 'Items added',
    returning: 'Items brought back',
    removed: 'Items removed',
    moved: 'Items moved',
  },
  onlyWords: 'The same steps in the same order; what they say or point at differs.',
  lines: (added: number, removed: number) =>
    `${added} ${added === 1 ? 'line' : 'lines'} added, ${removed} removed`,
  added: 'Added:',
  removed: 'Removed:',
  diffOf: (from: string, to: string) => `From ${from} to ${to}, line by line`,
  diffLong: 'Too much differs to show it line by line.',
  at: (line: number) => `Line ${line}`,

  ledger: 'Published versions',
  version: 'Version',
  one: (version: number) => `Version ${version}`,
  live: 'Live',
  newest: 'Newest',
  when: 'Published',
  by: 'By',
  via: { 'command line': 'command line', token: 'token', dashboard: 'dashboard' },
  note: 'Note',
  noNote: 'no note',
  unknownBy: 'not noted',
  size: 'Made of',
  sizeOf: (steps: number, items: number) =>
    [
      steps > 0 && `${steps} ${steps === 1 ? 'step' : 'steps'}`,
      items > 0 && `${items} ${items === 1 ? 'item' : 'items'}`,
    ]
      .filter(Boolean)
      .join(', '),
  starts: 'Runs, 30 days',
  actions: 'Do',
  results: 'Results',
  runs: 'Runs',
  compareOne: 'Compare',
  compareWith: (version: number) => `Compare version ${version} with the newest`,
  zone: (zone: string) => `Times are of ${zone}.`,
  empty: 'Never published',
  emptyWhy: 'Each time that it is published, a version is kept here for good.',

  compare: 'Compare',
  from: 'From',
  to: 'To',
  show: 'Show',
  stop: 'Done comparing',

  publish: 'Publish',
  publishTitle: (version: number) => `Publish version ${version}?`,
  publishAgainTitle: (version: number) => `Show version ${version} again?`,
  publishWhy: (live: boolean) =>
    live
      ? 'Visitors whom it is for see the new version from their next page on. Runs that have begun keep counting as of the version they began with.'
      : 'Visitors whom it is for see it from their next page on.',
  publishAgain: 'Pages show it again, as it was.',
  published: (version: number) => `Version ${version} is live.`,
  publishedAlready: 'This is already published.',
  quicker: (who: string, when: string) =>
    `${who} changed the draft ${when}. Below is what would change now: look at it, and publish again.`,
  somebody: 'Somebody',
  meanwhile: 'meanwhile',
  noteLabel: 'Note',
  noteHint: 'Why, for your colleagues. It stays with the version, and in the audit log.',

  discard: 'Give the draft up',
  discardTitle: 'Give the draft up?',
  discardWhy: (version: number) =>
    `What it changes is lost; version ${version} is what there is. Visitors see no change.`,
  discarded: 'The draft is gone.',

  restore: 'Roll back',
  restoreTitle: (version: number) => `Roll back to version ${version}?`,
  restoreWhy: (next: number) =>
    `What it says becomes version ${next}, as numbers only grow. Visitors whom it is for see it from their next page on.`,
  restoreDraftWhy: 'What it says becomes the draft. Visitors see no change until it is published.',
  restoreDraftLost: 'The draft that waits is replaced.',
  restoreNow: 'Publish it at once',
  restored: (version: number, live: number | null) =>
    live === null
      ? `Version ${version} is the draft now.`
      : `Version ${version} is live again, as version ${live}.`,

  takeAway: 'Take it from visitors',
  putAway: 'Put it away',
  unpublish: 'Unpublish',
  unpublishTitle: 'Unpublish this flow?',
  unpublishWhy:
    'No page shows it any more, from the next one on. Versions and results stay, and it can be published again.',
  unpublished: 'Pages do not show it any more.',
  archive: 'Archive',
  archiveTitle: 'Put this flow into the archive?',
  archiveWhy:
    'No page shows it any more, and it leaves the list of flows. Versions and results stay, and it can be published again.',
  archiveUnseenWhy:
    'It leaves the list of flows. Versions and results stay, and it can be published at any time.',
  archived: 'It is in the archive.',
} as const
