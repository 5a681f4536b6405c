/** What people read on the overview. */
export const overviewWords = {
  title: 'Overview',
  needed: 'Needs a person',
  nothingNeeded: 'Nothing needs you',
  nothingNeededWhy: 'No step has lost its element, and no draft is waiting.',
  flows: 'Flows',
  allFlows: 'All flows',
  install: 'Snippet',
}
