import { shownAs } from '../../core/flow/shown-as.ts'
import type { KnownHistory } from './history.ts'
import type { Flow, Progress } from './parts.ts'
import type { Run } from './runs.ts'

/** Progress in whole percent, as people and progress bars need it. */
export const progressIn = (completed: number, total: number): Progress => ({
  completed,
  total,
  percent: total === 0 ? 0 : Math.round((completed / total) * 100),
})

/** How far somebody is in a flow, as this browser knows: in the open run, otherwise by the last one. */
export function progressOf(flow: Flow, run: Run | undefined, past: KnownHistory): Progress {
  const parts = shownAs(flow) === 'checklist' ? (flow.checklist?.items ?? []) : flow.steps
  if (!run) return progressIn(past.completedAt === null ? 0 : parts.length, parts.length)
  const at = parts.findIndex(({ id }) => id === run.stepId)
  const isBehind = (id: string, i: number) =>
    shownAs(flow) === 'checklist' ? id in run.ticked : at < 0 || i < at
  return progressIn(parts.filter(({ id }, i) => isBehind(id, i)).length, parts.length)
}
