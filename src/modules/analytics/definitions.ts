/** What each number means, in one sentence: sent with every answer, so that nobody has to guess. */
export const definitions = {
  person: 'A userId, or an anonymousId where an event names no userId; the two never meet.',
  run: 'One pass of one person through the flow; by runId, else by person and session, else one per person.',
  starts: 'Runs that started in the range; everything in this answer is about these runs.',
  uniqueUsers: 'Distinct people among the runs counted beside it.',
  completions: 'Runs with a completion, whenever it was reported.',
  uniqueCompleters: 'Distinct people with at least one completed run.',
  dismissals: 'Runs that were dismissed and never completed.',
  inProgress: 'Runs neither completed nor dismissed.',
  completionRate: 'completions divided by starts, four decimals; null where nothing started.',
  timeToComplete:
    "Seconds from a run's start to its earliest completion; median and p90 are exact, by nearest rank.",
  reached: 'Runs that viewed the step.',
  completed: 'Runs that completed the step.',
  skipped: 'Runs that skipped the step.',
  targetMissing: "Runs in which the step's target was reported missing.",
  droppedHere:
    "Runs not completed (those in progress too) whose furthest viewed step this is, by position in the run's version.",
  dropOffRate: 'droppedHere divided by reached, four decimals; null where no run reached the step.',
  stepSeconds:
    "Seconds from a run's first view of the step to its first completion or skip, else to its first view of a later step; runs with neither are left out; exact, by nearest rank.",
  health:
    "As of now, not of the range: each person's latest report of the newest version in the last 24 hours; reports is the number of people counted.",
  'checklist.completions': "People of the range's runs who ever ticked the item.",
  'checklist.completedAll': "People of the range's runs who ever had every item ticked at once.",
  daily:
    'A run belongs to the day of its start in the asked time zone; a person is counted once a day, so daily unique users do not add up to the total.',
  versions:
    "Runs of the range by version, whatever the version filter: the least version that a run's events name, else the one published when it started.",
} as const
