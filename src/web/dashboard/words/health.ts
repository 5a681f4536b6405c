/** Texts about a flow's health. */
export const healthWords = {
  needed: (bad: number, of: number) =>
    `${bad} of ${of} ${of === 1 ? 'step' : 'steps'} with a target ${bad === 1 ? 'needs' : 'need'} a person.`,
  well: (of: number) =>
    of === 1
      ? 'Nothing is wrong with its one step with a target.'
      : `Nothing is wrong with any of its ${of} steps with a target.`,
  noneKnown: 'Too few people have met its steps to say how they are.',
  unknownOf: (unknown: number, of: number) =>
    `Nothing is wrong with ${of - unknown} of ${of} steps with a target; too few people have met the others to say.`,
  unknown: (of: number) => `Too few people have met ${of} of them to say.`,
  defined: 'How health is defined',
  asOf: (zone: string) => `Of the last 24 hours and the published version. Times are of ${zone}.`,
  definition: (text: string) => `States are, ${text}`,
  since: 'Since',
  sinceUnknown: 'not known',
  found: 'Found by',
  foundBy: (found: string, people: string) => `${found} of ${people} people`,
  affected: 'People affected',
  affectedBy: (missed: number, makeshift: number) =>
    [
      missed > 0 ? `${missed} missed it` : '',
      makeshift > 0 ? `${makeshift} found it by another way` : '',
    ]
      .filter(Boolean)
      .join(', ') || 'nobody',
  outcomes: {
    found: 'found it',
    found_by_alternate: 'found it by an alternate',
    changed: 'found it changed',
    ambiguous: 'found several',
    hidden: 'found it hidden',
    not_found: 'did not find it',
    error: 'had an error',
  },
  lastFound: 'Last found',
  never: 'not in the last 24 hours',
  needs: (people: number, have: number, version: number) =>
    `Needs ${people} people in 24 hours to say how it is: ${have === 0 ? 'nobody has' : have === 1 ? '1 has' : `${have} have`} met it in version ${version}.`,
  selector: 'Selector',
  isOptional: 'Optional',
  isPinned: 'Pinned',
  pages: 'Pages',
  page: 'Page',
  unknownPage: 'not told',
  reports: 'Reports',
  misses: 'Missed',
  makeshift: 'By another way',
  messages: 'Messages from pages',
  times: (times: number) => (times === 1 ? 'once' : `${times} times`),
  lastSaid: (age: string) => `last ${age}`,

  element: 'What the element is like',
  part: 'Part',
  baseline: 'Baseline',
  now: 'Now',
  changed: 'changed',
  gone: 'Looked for, and not there.',
  notLooked: 'Not looked at since the baseline.',
  like: (percent: string) => `${percent} like the baseline`,
  noBaseline: 'No page has told what it is like.',
  parts: {
    selector: 'Selector',
    matchCount: 'Elements matched',
    tag: 'Tag',
    id: 'Id',
    testId: 'Test id',
    role: 'Role',
    name: 'Name',
    ariaLabel: 'aria-label',
    text: 'Text',
    textHash: 'Text, hashed',
    classes: 'Classes',
    attributes: 'Attributes',
    ancestors: 'Inside',
  },

  candidate: 'A selector that would find it',
  byFingerprints: (times: number, of: number) =>
    `${times} of the ${of} latest looks that call for another selector suggest it: it matched one element, which is like the baseline.`,
  byReports: (times: number) =>
    `${times} ${times === 1 ? 'report' : 'reports'} found the element by it where the selector did not.`,
  sound: 'Nothing in it looks as if the next build would break it.',
  noCandidate: 'Nothing suggests another selector yet. Look at the page, and pick or write one.',
  drafted: 'The draft that waits has this selector already.',
  toVersions: 'To the draft',

  repair: 'Put into draft',
  repairTitle: (step: string) => `Give “${step}” another selector?`,
  repairWhy:
    'The selector of the draft changes. Visitors see no change until the draft is published.',
  repairAlso: 'A draft is waiting: this is added to it.',
  before: 'Before',
  after: 'After',
  repaired: (selector: string) => `The draft has ${selector} now. It waits to be published.`,
  unchanged: 'The draft had this selector already. It waits to be published.',

  pin: 'Pin',
  pinTitle: (step: string) => `Pin the element of “${step}”?`,
  pinWhy:
    'The draft remembers what the element was like in its baseline. Once it is published, pages find the element by that where no selector does.',
  pinned: {
    pinned: 'The draft remembers what the element is like. It waits to be published.',
    'already pinned': 'The draft remembers it already.',
    'no baseline': 'There is no baseline of this element to remember.',
    'draft differs': 'The draft points at another element than the baseline is of.',
    'says too little': 'The baseline says too little to find the element by.',
  },

  noTarget: 'Points at no element: there is nothing that could be lost.',
  empty: 'No step points at an element',
  emptyWhy: 'There is nothing that could be lost.',
  unpublished: 'Pages do not show this flow',
  unpublishedWhy: 'Health is of what is published. Publish it, and its steps show here.',
} as const
