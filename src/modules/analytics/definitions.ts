import { healthDefinitions } from '../steps/index.ts'

/** Values of a trait that get a row of their own. The rarer ones share a row. */
export const mostValues = 50

/** Groups of runs by when they first saw a step, in the order in which they are listed. */
export const cohortNames = ['in_time', 'late', 'never'] as const

/**
 * What each number means, in one sentence. Sent with every answer, so that nobody has to guess. A name that
 * occurs in several places means the same in all of them; otherwise its key includes the place.
 */
export const definitions = {
  person:
    "A userId, or an anonymousId where a run's events name no userId; the two are never taken for the same person.",
  run: "One pass of one person through the flow: the events that share a runId; without one, a person's events of one sessionId; without either, all of a person's, except that such a completion or tick belongs to the person's latest run that had begun by then.",
  ticks:
    "Ticks of everybody whom one run names, such as a visitor who then signed in, count together; each time that they make a checklist whole, the last one completes the run that it names, else the latest of these people's runs that had begun by then.",
  range:
    'Calendar days of the time zone, both inclusive; all but health is about the runs that started in them.',
  'range.complete':
    'Whether the last day was over in the asked time zone; where it is not, runs are still to start in it.',
  'filters.version':
    'The one version whose runs are counted, null for all; versions and health are not filtered by it.',
  ignored: 'Parameters of the query that mean nothing and were left out of account, by name.',
  generatedAt: 'When this was worked out.',
  starts:
    'Runs that started in the range: a run begins with the first thing that is reported of it, be it a start, a view, a tick or a completion, and everything in this answer is about these runs.',
  uniqueUsers:
    'Distinct people among the runs counted beside it: in totals and daily those of starts, in steps those of reached.',
  completions: 'Runs with a completion, whenever it was reported, also after the range.',
  uniqueCompleters: 'Distinct people with at least one completed run.',
  dismissals: 'Runs that were dismissed and never completed.',
  inProgress: 'Runs neither completed nor dismissed, however long ago they began.',
  completionRate: 'completions divided by starts, four decimals; null where nothing started.',
  timeToComplete:
    "Seconds from a run's start to its earliest completion; median and p90 are by nearest rank, exact below 4 seconds and within 0.025 % above.",
  'timeToComplete.count': 'Runs that were timed: all that were completed, but for untimed.',
  untimed:
    'Completed runs that begin with their completion, such as those of which nothing else was reported: they have no time that it took, and are left out of the seconds.',
  medianSeconds:
    'Half of the runs that were timed took at most this long; null where none was timed.',
  p90Seconds:
    'Nine in ten of the runs that were timed took at most this long; null where none was timed.',
  steps:
    'The steps of the newest version in order, then those of older versions that runs of the range saw.',
  position: "The step's place in the newest version that has it, counted from 0.",
  reached: 'Runs that viewed the step.',
  completed: 'Runs that completed the step, whether or not its view was reported.',
  skipped: 'Runs that skipped the step, whether or not its view was reported.',
  targetMissing: "Runs in which the step's target was reported missing.",
  droppedHere:
    "Runs not completed (those in progress too, also those of stillHere) whose furthest viewed step this is, by position in the run's version.",
  stillHere:
    'Those of droppedHere that are in progress and had an event in the 24 hours before generatedAt: they may go on.',
  dropOffRate: 'droppedHere divided by reached, four decimals; null where no run reached the step.',
  stepSeconds:
    "medianSeconds and p90Seconds of a step: seconds from a run's first view of the step to its first completion or skip, else to its first view of a later step; runs with neither are left out; by nearest rank, exact below 4 seconds and within 0.025 % above.",
  question:
    'Where the step asks or ever asked something: what runs last answered to it (of two answers at one moment the greater text), of the type that its newest question has; runs that skipped it are in skipped.',
  'question.answers': 'Runs that answered the question.',
  'question.average': 'Of a rating: the mean of the numbers, two decimals; null without an answer.',
  'question.median':
    'Of a rating: the median of the numbers, by nearest rank; null without an answer.',
  nps: 'Of a rating from 0 to 10 (scale nps): promoters gave 9 or 10, passives 7 or 8, detractors 6 or less; score is the per cent of promoters less that of detractors, one decimal, -100 to 100, null without an answer.',
  'nps.score':
    'The per cent of promoters less that of detractors, one decimal; null without an answer.',
  'nps.promoters': 'Runs that gave 9 or 10.',
  'nps.passives': 'Runs that gave 7 or 8.',
  'nps.detractors': 'Runs that gave 6 or less.',
  'distribution.share':
    'count divided by the answers of the question, four decimals; null without an answer.',
  'question.distribution':
    'How many runs gave each number or chose each choice, those that nobody chose too; share is of answers, four decimals, and of a question that takes several the shares add up to more than 1. Nothing for texts, which are read one by one.',
  health:
    "As of now, not of the range: each person's latest report of the newest version in the last 24 hours; reports is the number of people counted.",
  'health.state': healthDefinitions.state,
  'health.okRate': healthDefinitions.okRate,
  'health.reports': healthDefinitions.people,
  'checklist.completions':
    "People of the range's runs who ever ticked the item, by ticks that count for them.",
  'checklist.completedAll':
    "People of the range's runs who ever had every item ticked at once, by ticks that count for them.",
  daily:
    'A run belongs to the day of its start in the asked time zone; a person is counted once a day, so daily unique users do not add up to the total.',
  'daily.complete': 'Whether the day was over in the asked time zone.',
  versions:
    "Runs of the range by version, whatever the version filter: the least version that a run's events name (a completion or tick that belongs to it too), else the one published when it started.",
  publishedAt: 'When the version was published.',
} as const

/** Definitions that belong to every group of runs. */
export const groupDefinitions = {
  interval:
    'Between which two rates that of all who may ever come lies, with 95 % confidence (Wilson), four decimals; groups whose intervals do not overlap differ by more than chance. Null where nothing started.',
  low: 'The lower end of interval.',
  high: 'The upper end of interval.',
}

/** Definitions of what an answer contains only if it is asked for. */
export const askedDefinitions = {
  distribution: {
    'timeToComplete.distribution':
      'The runs that were timed by how long they took, in bins that are the same in every answer.',
    'distribution.count':
      'Runs that took fromSeconds or more and less than toSeconds; times above 4 seconds are first rounded as median and p90 are, within 0.025 %.',
    fromSeconds: 'Where a bin begins; what took exactly so long is in it.',
    toSeconds:
      'Where a bin ends; what took exactly so long is in the next, and null is no end at all.',
    'versions.distribution':
      "The version's runs that were timed, in the bins of timeToComplete.distribution and their order, whatever the version filter.",
  },
  segments: {
    'filters.segment':
      'Only runs are counted whose person had these values when they started, of all traits that are named; a null value is for those of whom the trait was not said. Health is not filtered by it.',
    segments: `The runs by what was said of their person when they started (the earliest start that says traits), of a trait that the organisation lists: its ${mostValues} most frequent values, most runs first; what the rarer ones are together (other, values says how many); and runs that did not say (not_said), such as those that started before the trait was listed.`,
    'segments.values': 'How many values the row is of: one, those of other, none for not_said.',
    ...groupDefinitions,
  },
  late: {
    late: 'The runs by when they first saw a step: in_time within afterSeconds of their start, late after more than that, never if they did not see it.',
    'late.afterSeconds': 'How long after its start a run may see the step in time.',
    ...groupDefinitions,
  },
  experiment: {
    experiment:
      'How many people reached the goal of the newest version: of those whose runs started in the range (shown), and of those who were first held back in it (heldOut); of versions from which anybody was held back. Who was ever held back, by any version, is not among the shown. Null where runs are counted by segments, for nothing is known of the traits of people held back.',
    'experiment.people': 'Distinct people of the group.',
    'experiment.achieved':
      "Those of them who caused the goal's event at or after their first start in the range, or after they were first held back in it; counted from when a published version names it.",
    'experiment.rate': 'achieved divided by people, four decimals; null without people.',
    'experiment.difference':
      'rate of shown less rate of heldOut, four decimals: what the flow changes; null where one of them has no people.',
    'experiment.interval':
      'Between which two differences that of all who may ever come lies, with 95 % confidence (Newcombe, by Wilson), four decimals; where 0 lies between them, the difference may be chance.',
  },
  ways: {
    ways: 'The ways that runs took from step to step, by when each first viewed them; of steps viewed at one moment the one of lesser position comes first. A run is in one row that begins (from is null), in one for each step that it viewed, by which it came there, and in one that ends: to is then completed, dismissed, or null where it goes on.',
    'ways.from': 'The step before, null for the start.',
    'ways.to':
      'The step that was viewed next; or what became of the run after its last one: completed, dismissed, or null where it goes on.',
    'ways.runs': 'Runs that went so.',
    'steps.leftOut':
      "Runs that went past the step: they viewed a later one, by position in the run's version, and never this, because a rule or a button led past it, or its element was missing. They did not drop here; of one version's runs, reached and leftOut together never rise from one step to the next.",
  },
  interval: {
    periods:
      'The days of the range by the interval that was asked for; each number but uniqueUsers is the sum of its days, and a person is counted once a period. Weeks begin on Monday (ISO 8601), months on their first day, in the asked time zone.',
    'periods.whole':
      'Whether all days of the week or month are in the range, which may cut the first and the last.',
    'periods.complete': 'Whether the last of its days was over in the asked time zone.',
  },
} as const

/** The definitions for an answer, depending on what was asked for. */
export const definitionsOf = (asked: {
  hasDistribution: boolean
  interval: unknown
  filters: readonly unknown[]
  by: unknown
  late: unknown
  hasExperiment?: boolean
  hasWays: boolean
}): Record<string, string> => ({
  ...definitions,
  ...(asked.hasDistribution && askedDefinitions.distribution),
  ...(asked.hasExperiment && askedDefinitions.experiment),
  ...(asked.interval !== null && askedDefinitions.interval),
  ...((asked.by !== null || asked.filters.length > 0) && askedDefinitions.segments),
  ...(asked.late !== null && askedDefinitions.late),
  ...(asked.hasWays && askedDefinitions.ways),
})
