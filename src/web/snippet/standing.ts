import { shownAs } from '../../core/flow/shown-as.ts'
import type { KnownHistory } from './history.ts'
import type { Flow, Progress } from './parts.ts'
import type { Run } from './runs.ts'

/**
 * Progress in whole percent, as people and progress bars need it. Only after a single division is a half a half:
 * 23 / 40 * 100 is slightly below 57.5.
 */
export const progressIn = (completed: number, total: number): Progress => ({
  completed,
  total,
  percent: total === 0 ? 0 : Math.round((100 * completed) / total),
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
