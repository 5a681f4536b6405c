/** What the words of a flow are called, wherever authors read them: in the dashboard and on the page. */

export const flowKinds = {
  tour: 'Tour',
  checklist: 'Checklist',
  announcement: 'Announcement',
  launcher: 'Resource centre',
}

export const stepKinds = {
  tooltip: 'Tooltip',
  modal: 'Modal',
  banner: 'Banner',
  hotspot: 'Hotspot',
  slideout: 'Slide-out',
}

export const sides = { top: 'Top', right: 'Right', bottom: 'Bottom', left: 'Left' }

export const aligns = { start: 'Start', center: 'Center', end: 'End' }

export const buttonActions = {
  next: 'Next step',
  back: 'Previous step',
  complete: 'Complete',
  dismiss: 'Dismiss',
  link: 'Open a link',
  start: 'Start another flow',
}

export const questionTypes = { rating: 'Rating', choice: 'Choice', text: 'Text' }

export const ratingScales = { nps: '0 to 10', stars: 'Stars', numbers: 'Numbers' }

export const matchNames = {
  exact: 'is exactly',
  prefix: 'begins with',
  glob: 'matches the pattern',
  regex: 'matches the regular expression',
}

export const operators: Readonly<Record<string, string>> = {
  eq: 'is',
  neq: 'is not',
  in: 'is one of',
  nin: 'is none of',
  gt: 'is greater than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
  contains: 'contains',
  exists: 'is set',
}

export const allOrAny = { all: 'all rules', any: 'any rule' }
