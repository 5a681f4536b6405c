/** What runs are called, and what becomes of them: a run of a launcher is an opening of it. */
export interface RunWords {
  runs: string
  starts: string
  completed: string
  dismissed: string
  unfinished: string
  rate: string
  rateMeans: string
}

const ofRuns: RunWords = {
  runs: 'Runs',
  starts: 'Starts',
  completed: 'Completed',
  dismissed: 'Dismissed',
  unfinished: 'Unfinished',
  rate: 'Completion',
  rateMeans: 'Completed runs out of all runs that started.',
}

const ofOpenings: RunWords = {
  runs: 'Openings',
  starts: 'Opened',
  completed: 'Chose an item',
  dismissed: 'Closed',
  unfinished: 'Left open',
  rate: 'Choice rate',
  rateMeans: 'Openings in which an item was chosen, out of all openings.',
}

export const wordsFor = (isLauncher: boolean): RunWords => (isLauncher ? ofOpenings : ofRuns)
