import { healthDefinitions } from '../steps/schema.ts'

/** Values of a trait that get a row of their own. The rarer ones share a row. */
export const maxValues = 50

const duration = 'By nearest rank; exact below 4 seconds, within 0.025 % above'

/**
 * What each field means. Returned with the numbers. A name that occurs in several objects means the same in
 * all of them; otherwise its key includes the object.
 */
export const definitions = {
  person:
    "A userId, or an anonymousId if a run's events have no userId. A userId and an anonymousId never count as the same person.",
  run: "One pass of one person through the flow: the events with the same runId. Without a runId, a person's events with the same sessionId; without either, all of the person's events. But a completion or tick without either belongs to the person's latest run that had started by then.",
  ticks:
    'Ticks of all identities in a run, such as a visitor who then signs in, count together. The tick that completes the checklist completes the run that it names, otherwise the latest run that had started by then.',
  range:
    'Calendar days of the time zone, both inclusive. All numbers but health are about the runs that started in them.',
  'range.complete': 'False until the last day is over: more runs can start in it.',
  'filters.version':
    'The version whose runs are counted; null for all. Versions and health are not filtered.',
  ignored: 'Unknown parameters, which had no effect.',
  generatedAt: 'When the numbers were computed.',
  starts:
    'Runs that started in the range. A run starts with its earliest event of any kind. All other numbers are about these runs.',
  uniqueUsers: 'Distinct people with a counted run; for a step, with a run that reached it.',
  completions: 'Runs that were completed, in the range or later.',
  uniqueCompleters: 'Distinct people with a completed run.',
  dismissals: 'Runs that were dismissed and never completed.',
  inProgress: 'Unfinished runs: neither completed nor dismissed, whatever their age.',
  stalled:
    'Unfinished runs without an event in the last 7 days. The other unfinished runs are active.',
  completionRate: 'Completions divided by starts, four decimals. Null if there are no starts.',
  timeToComplete: `Seconds from a run's start to its earliest completion. ${duration}.`,
  'timeToComplete.count': 'Completed runs without those in untimed.',
  untimed: 'Completed runs whose first event is the completion. They have no duration.',
  medianSeconds: 'Half of the timed runs took at most this long. Null if there are none.',
  p90Seconds: '90 % of the timed runs took at most this long. Null if there are none.',
  steps: 'The steps of the newest version in order, then steps of older versions that runs saw.',
  position: "The step's position in the newest version that has it, from 0.",
  reached: 'Runs that viewed the step.',
  completed: 'Runs that completed the step, with or without a view.',
  skipped: 'Runs that skipped the step, with or without a view.',
  targetMissing: "Runs in which the step's element was reported missing.",
  droppedHere:
    "Runs that are not completed and viewed no later step, by position in the run's version. Includes unfinished runs.",
  stillHere: 'Unfinished runs of droppedHere that had an event in the last 24 hours.',
  activeHere: 'Unfinished runs of droppedHere that had an event in the last 7 days.',
  dropOffRate: 'droppedHere divided by reached, four decimals. Null if no run reached the step.',
  stepSeconds: `medianSeconds and p90Seconds of a step: from a run's first view of it to its first completion or skip, otherwise to its first view of a later step. Runs with neither are not counted. ${duration}.`,
  question:
    'The last answers of runs, if the step has or ever had a question; of two answers at the same time, the greater text. Runs that skipped the question are in skipped.',
  'question.answers': 'Runs that answered the question.',
  'question.average': 'The mean of a rating, two decimals. Null if there are no answers.',
  'question.median': 'The median of a rating, by nearest rank. Null if there are no answers.',
  nps: 'Net Promoter Score of a rating from 0 to 10.',
  'nps.score':
    'Percentage of promoters minus percentage of detractors, -100 to 100, one decimal. Null if there are no answers.',
  'nps.promoters': 'Runs that answered 9 or 10.',
  'nps.passives': 'Runs that answered 7 or 8.',
  'nps.detractors': 'Runs that answered 0 to 6.',
  'question.distribution':
    'Runs by number or choice, including those with no runs. Empty for text.',
  'distribution.share':
    'count divided by answers, four decimals. Adds up to more than 1 if several choices are allowed. Null if there are no answers.',
  health:
    "The current health of the newest version, whatever the range: each person's latest report of the last 24 hours.",
  'health.state': healthDefinitions.state,
  'health.okRate': healthDefinitions.okRate,
  'health.reports': healthDefinitions.people,
  'checklist.completions': 'People who ever ticked the item.',
  'checklist.completedAll': 'People who ever had all items ticked at the same time.',
  daily:
    'Runs by the day of their start. A person counts once a day, so daily people do not add up to the total.',
  'daily.complete': 'False until the day is over.',
  versions:
    'Runs by version, without the version filter: the lowest version that their events name, otherwise the one that was published when they started.',
  publishedAt: 'When the version was published.',
} as const

/** Definitions of every group of runs. */
export const groupDefinitions = {
  interval:
    '95 % confidence interval of completionRate (Wilson), four decimals. Groups whose intervals do not overlap differ by more than chance. Null if there are no starts.',
  low: 'The lower end of interval.',
  high: 'The upper end of interval.',
}

/** Definitions that depend on the query. */
export const requestedDefinitions = {
  distribution: {
    'timeToComplete.distribution': 'Timed runs by duration, in the same bins for all flows.',
    'distribution.count':
      'Runs that took at least fromSeconds and less than toSeconds. Durations above 4 seconds are rounded first, within 0.025 %.',
    fromSeconds: 'Where the bin begins, inclusive.',
    toSeconds: 'Where the bin ends, exclusive. Null for no end.',
    'versions.distribution':
      'Timed runs of the version by bin of timeToComplete.distribution, without the version filter.',
  },
  segments: {
    'filters.saved':
      'The saved segments whose rules the traits of each counted run met at its start.',
    'filters.segment':
      'Counted are runs whose person had all of these values at the start. A null value means unknown. Health is not filtered.',
    segments: `Runs by a listed trait of their person at the start: the ${maxValues} most frequent values, most runs first, then the rarer values together (other), then runs whose value is unknown (not_said).`,
    'segments.values':
      'Number of values in the row: 1, that of the rarer values, or 0 for not_said.',
    ...groupDefinitions,
  },
  experiment: {
    experiment:
      'People who reached the goal of the newest version, in versions with a hold-out: people whose runs started in the range (shown), and people first held out in it (heldOut). Whoever was ever held out, by any version, is not in shown. Null if segments are filtered, because the traits of people held out are unknown.',
    'experiment.people': 'Distinct people of the group.',
    'experiment.achieved':
      "People who caused the goal's event at or after their first start in the range, or after they were first held out. Counted from the first published version with this goal.",
    'experiment.rate': 'achieved divided by people, four decimals. Null if there are no people.',
    'experiment.difference':
      'The rate of shown minus the rate of heldOut, four decimals. Null if a group has no people.',
    'experiment.interval':
      '95 % confidence interval of the difference (Newcombe), four decimals. If it contains 0, the difference may be chance.',
  },
  ways: {
    ways: 'Paths of runs from step to step, by their first view of each. Steps viewed at the same time are in order of position. Each run is in one row from the start (from is null), in one row for each further step, and in one row to its end.',
    'ways.from': 'The previous step. Null for the start.',
    'ways.to': 'The next step; at the end completed, dismissed, or null if unfinished.',
    'ways.runs': 'Runs that took this path.',
    'steps.leftOut':
      "Runs that viewed a later step, by position in the run's version, but never this one: a rule or a button led past it, or its element was missing.",
  },
  answers: {
    'question.trend':
      'Answers by the start of their run, in periods of the interval; weeks by default. Only for ratings.',
    'trend.answers': 'Runs of the period that answered the question.',
    'trend.average': 'The mean of their ratings, two decimals. Null if there are none.',
    'segments.answers': 'Runs of the value that answered the question.',
    'segments.average': 'The mean of their ratings, two decimals. Null if there are none.',
    'question.segments': `Answers by the trait's value: the ${maxValues} values with the most answers, then the others (other), then runs whose value is unknown (not_said).`,
  },
  leavers: {
    leavers:
      'Runs that left at the step (not completed, viewed no later step, dismissed or stalled) beside runs that reached it and went on. Runs still active at the step are in neither.',
    'leavers.left': 'Runs that left at the step.',
    'leavers.wentOn': 'Runs that reached the step and went on.',
    'common.left': 'Runs with the value among those that left.',
    'common.wentOn': 'Runs with the value among those that went on.',
    'leavers.common':
      'Values that are more frequent among runs that left than among runs that went on, the surest first: traits, versions, and steps whose element was missing.',
    'difference.low': 'The lower end of difference.',
    'difference.high': 'The upper end of difference.',
    'common.difference':
      'Confidence interval of the difference of the two shares (Newcombe), four decimals: 95 % for all values together (Bonferroni), because many are compared. If it contains 0, the difference may be chance.',
  },
  interval: {
    periods:
      'Days grouped by the interval. Weeks begin on Monday (ISO 8601). A person counts once a period.',
    'periods.whole': 'False if the range cuts the week or month short.',
    'periods.complete': 'False until the last day is over.',
  },
} as const
