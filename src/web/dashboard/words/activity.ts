/** Texts about events as they arrive. */
export const activityWords = {
  pause: 'Pause',
  goOn: 'Go on',
  watching: 'Watching',
  paused: 'Paused',
  since: (time: string, zone: string) =>
    `Shows only what has arrived since ${time} (${zone}), the newest first. Paused or out of sight for half a minute, it begins anew.`,
  missed: (count: string) => `${count} more came faster than they can be shown.`,
  caption: 'Events as they arrived, the newest first',

  verdict: 'Verdict',
  all: 'All',
  verdicts: { accepted: 'Accepted', duplicate: 'Duplicate', rejected: 'Rejected' },
  kind: 'Kind',
  allKinds: 'All kinds',
  noKind: 'no kind',
  flow: 'Flow',
  allFlows: 'All flows',
  otherFlow: (id: string) => `not a flow here: ${id}`,
  time: 'Time',
  page: 'Page',
  person: 'Person',
  visitor: (id: string) => `visitor ${id}`,
  duplicateWhy: 'Its id was stored before; the first stands.',

  waiting: 'Waiting for events',
  waitingWhy:
    'Open a page of your application, and start a flow there. What it reports shows here within seconds, with what became of it.',
  never: 'No event has ever arrived here.',
  install: 'Look at the installation',
  manual: 'It does not show?',
  nothing: (count: string) => `None of the ${count} events that have arrived is such a one.`,
}
