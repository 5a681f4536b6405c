import { expect, test } from 'bun:test'
import { noHistory } from '../../../src/core/flow/decision.ts'
import { historyOf, type PastRun } from '../../../src/core/flow/past-run.ts'

const run = (key: string, startedAt: number, ended: Partial<PastRun> = {}): PastRun => ({
  key,
  startedAt,
  completedAt: null,
  dismissedAt: null,
  ...ended,
})

test.each<[string, PastRun[], Partial<typeof noHistory>]>([
  ['no run', [], {}],
  ['an open run', [run('r1', 5)], { runs: 1, startedAt: 5, inProgress: true, openRunId: '1' }],
  [
    'an open run that no runId names',
    [run('s["uann","9"]', 5)],
    { runs: 1, startedAt: 5, inProgress: true },
  ],
  [
    'a completed run',
    [run('r1', 5, { completedAt: 7 })],
    { runs: 1, startedAt: 5, completedAt: 7 },
  ],
  [
    'a run that was dismissed and completed',
    [run('r1', 5, { dismissedAt: 6, completedAt: 7 })],
    { runs: 1, startedAt: 5, completedAt: 7 },
  ],
  [
    'one completed, a later one dismissed',
    [run('r1', 5, { completedAt: 7 }), run('r2', 8, { dismissedAt: 9 })],
    { runs: 2, startedAt: 8, completedAt: 7, dismissedAt: 9 },
  ],
  [
    'the latest of each time',
    [
      run('r1', 5, { completedAt: 20 }),
      run('r2', 8, { completedAt: 9 }),
      run('r3', 6, { dismissedAt: 30 }),
      run('r4', 7, { dismissedAt: 8 }),
    ],
    { runs: 4, startedAt: 8, completedAt: 20, dismissedAt: 30 },
  ],
  [
    'an open run before an ended one',
    [run('r1', 5), run('r2', 8, { dismissedAt: 9 })],
    { runs: 2, startedAt: 8, dismissedAt: 9 },
  ],
  [
    'an open run after an ended one',
    [run('r1', 8), run('r2', 5, { dismissedAt: 9 })],
    { runs: 2, startedAt: 8, dismissedAt: 9, inProgress: true, openRunId: '1' },
  ],
  [
    'runs that started together: the open ones count, and of those the greatest',
    [run('ra', 5), run('rc', 5, { completedAt: 6 }), run('rb', 5), run('pann', 5)],
    { runs: 4, startedAt: 5, completedAt: 6, inProgress: true, openRunId: 'b' },
  ],
])('%s', (_, runs, expected) => {
  expect(historyOf(runs)).toEqual({ ...noHistory, ...expected })
  expect(historyOf(runs.toReversed())).toEqual({ ...noHistory, ...expected })
})
