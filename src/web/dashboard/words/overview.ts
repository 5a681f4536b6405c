/** Texts on the overview. */
export const overviewWords = {
  title: 'Overview',
  needed: 'Needs a person',
  nothingNeeded: 'Nothing needs you: no step has lost its element, and no draft is waiting.',
  step: (step: string, flow: string) => `“${step}” in ${flow}`,
  found: (share: string, people: number) =>
    `Found by ${share} of ${people} people in the last 24 hours`,
  drifting: (people: number) =>
    `${people} people found it in the last 24 hours, many by another way than its selector`,
  since: (age: string) => `since ${age}`,
  sinceAge: (age: string) => `First seen ${age}.`,
  sinceHour: (hour: string) => `First seen in the hour of ${hour}.`,
  suggestion: 'A selector that finds it is known.',
  draft: (flow: string) => `${flow} has unpublished changes`,
  draftNew: (flow: string) => `${flow} was never published`,
  changed: (age: string) => `Changed ${age}`,
  finding: { error: 'Error', warning: 'Warning', info: 'Note' },
  flows: 'Flows, last 7 days',
  allFlows: 'All flows',
  snippet: 'Snippet',
  lastSeen: (age: string) => `last seen ${age}`,
  snippetVersion: (version: string) => `version ${version}`,
}
