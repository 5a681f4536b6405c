/** What the words of a flow are called, wherever people read them. */

export const stepKinds = {
  tooltip: 'Tooltip',
  modal: 'Modal',
  banner: 'Banner',
  hotspot: 'Hotspot',
  slideout: 'Slide-out',
}

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
