import { type FlowHistory, noHistory } from './decision.ts'

/** A run of a person, with what decides what they see next. Times are epoch milliseconds. */
export interface PastRun {
  /** As `runKeyOf` makes it. */
  key: string
  startedAt: number
  completedAt: number | null
  dismissedAt: number | null
}

const later = (a: number | null, b: number | null): number | null =>
  a === null || (b !== null && b > a) ? b : a

const isOpen = ({ completedAt, dismissedAt }: PastRun) =>
  completedAt === null && dismissedAt === null

/** The history that results from the runs of one flow, in any order. */
export function historyOf(runs: readonly PastRun[]): FlowHistory {
  const history = { ...noHistory }
  for (const { startedAt, completedAt, dismissedAt } of runs) {
    history.runs++
    history.startedAt = later(history.startedAt, startedAt)
    history.completedAt = later(history.completedAt, completedAt)
    if (completedAt === null) history.dismissedAt = later(history.dismissedAt, dismissedAt)
  }
  // If several runs started together, an open one counts as the latest; of several open ones, the greatest
  // key.
  for (const run of runs) {
    if (run.startedAt !== history.startedAt || !isOpen(run)) continue
    history.inProgress = true
    if (!run.key.startsWith('r')) continue
    const runId = run.key.slice(1)
    if (history.openRunId === null || runId > history.openRunId) history.openRunId = runId
  }
  return history
}
