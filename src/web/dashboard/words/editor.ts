/** Texts on the page where flows are written. */
export const editorWords = {
  newWhy:
    'A flow is a short text: a key, a name, and steps or items. What you save is a draft, which no visitor sees.',
  side: 'Write it as',
  sides: [
    ['form', 'Form'],
    ['yaml', 'YAML'],
  ] as const,
  yamlLabel: 'The flow, as YAML',
  keys: [
    ['Ctrl Space', 'suggests what can stand there'],
    ['Ctrl S', 'saves'],
    ['Ctrl F', 'searches'],
    ['Tab', 'indents; Esc, then Tab leaves the editor, and Ctrl M has Tab leave it for good'],
  ] as const,
  keysTitle: 'Keys of the editor',

  save: 'Save draft',
  review: 'Review and publish',
  unsaved: 'Unsaved changes',
  notKept: 'Unsaved changes, which this browser cannot keep: save before you leave',
  saved: 'The draft is saved. No visitor sees it until it is published.',
  savedAsPublished: 'Saved: this is what was published last, so no draft waits.',
  savedWith: (who: string, when: string, what: string) =>
    `Saved, with what ${who} changed ${when}: ${what}.`,
  somebody: 'somebody',
  meanwhile: 'meanwhile',
  mend: (count: number) =>
    count === 1
      ? 'Not saved: there is an error to mend first.'
      : `Not saved: there are ${count} errors to mend first.`,
  notOne: 'Not saved: the text has to hold one flow, and no other.',
  otherKey: (key: string) =>
    `Not saved: the key of this flow is "${key}", and stays so over its versions. For another flow, begin a new one.`,
  keyTaken: (key: string) =>
    `Not saved: there is a flow of the key "${key}" already. Take another key.`,
  refused: 'Not saved',
  signedOut: 'Not saved: sign in again, and save. What you wrote stays.',
  away: 'Not saved: the server is not reached. What you wrote is kept in this browser.',

  problems: 'Problems',
  noProblems: 'No problems',
  judging: 'Checking…',
  notJudged: 'Could not be checked now; it is tried again.',
  counted: (errors: number, warnings: number) =>
    [
      errors > 0 && `${errors} ${errors === 1 ? 'error' : 'errors'}`,
      warnings > 0 && `${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`,
    ]
      .filter(Boolean)
      .join(', '),
  error: 'Error',
  warning: 'Warning',
  line: (line: number) => `Line ${line}`,

  left: (time: string) => `Unsaved changes of ${time}`,
  leftFrom: 'The first changed line:',
  leftWhy: 'This browser kept what was written here and not saved.',
  goOn: 'Go on with them',
  discard: 'Discard',
  elsewhere: 'This flow is being edited in another tab of this browser, too.',
  elsewhereWhy:
    'Neither tab writes over the other: whoever saves later is asked about the difference.',
  changed: 'Somebody has changed this flow since you opened it.',
  changedWhy:
    'When you save, what they changed is taken over, and you are asked where both changed the same.',

  leaveTitle: 'Leave without saving?',
  leaveWhy: 'What you wrote is kept in this browser, and offered when you come back.',
  leaveWhyLost: 'What you wrote is too large for this browser to keep, and is lost.',
  leave: 'Leave',
  stay: 'Stay',

  readOnly: 'You may read this flow, and not change it: that takes the role of an editor.',

  locked: 'This flow is changed in its repository alone.',
  lockedWhy: (repository: string) =>
    `It was pushed from ${repository} with a lock. Change it there and push it again.`,
  copyYaml: 'Copy YAML',
  copied: 'Copied.',
  copySelf: 'The browser lets no page copy: mark the text, and press Ctrl C.',
  unlock: 'Unlock',
  unlockTitle: 'Change this flow here?',
  unlockWhy:
    'The next push from the repository writes over what is changed here, and may lock it again. The audit log notes who unlocked it.',

  mergeTitle: 'Both of you changed the same',
  mergeWhy: (who: string, when: string) =>
    `${who} changed this flow ${when}. What only one of you changed is taken over. Choose for what both changed:`,
  taken: 'Taken over',
  mine: 'Yours',
  theirs: 'Theirs',
  gone: 'Removed',
  unit: {
    field: (name: string) => `Field "${name}"`,
    step: (key: string) => `Step "${key}"`,
    checklist: (name: string) => `Checklist: "${name}"`,
    text: (place: string) => `Texts: ${place.replaceAll(' ', ' → ')}`,
    item: (key: string) => `Item "${key}"`,
    order: (kind: string) => (kind === 'step' ? 'Order of the steps' : 'Order of the items'),
  },
  saveMerged: 'Save as chosen',
} as const

/** The text that a new flow begins with. */
export const firstText = `# A draft: no visitor sees it until you publish it.
key: my-tour
name: My tour
frequency: once
steps:
  - key: welcome
    kind: modal
    title: Welcome
    body: Say in a sentence what this page is for.
`
