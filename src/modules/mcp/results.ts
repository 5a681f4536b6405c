import type { Analytics } from '../analytics/schema.ts'

const percent = (rate: number | null) =>
  rate === null ? 'no rate yet' : `${Math.round(rate * 100)} %`
const counted = (count: number, one: string, several = `${one}s`) =>
  `${count} ${count === 1 ? one : several}`
const seconds = (value: number | null) => (value === null ? 'unknown' : `${Math.round(value)} s`)

function stepInWords(step: Analytics['steps'][number]): string {
  const { position, title, key, reached, droppedHere, stillHere, dropOffRate, targetMissing } = step
  const left = droppedHere - stillHere
  const name = `Step ${position + 1}, "${title || key}"`
  const missing =
    targetMissing > 0 ? ` Its element was missing in ${counted(targetMissing, 'run')}.` : ''
  const health =
    step.health.state === 'broken' ? ' The element is broken now: call check_steps.' : ''
  return `${name}: ${counted(reached, 'run')} reached it, ${left} ended here (drop-off ${percent(dropOffRate)}).${missing}${health}`
}

/** A flow's results in sentences, for who reads no table. */
export function resultsInWords(results: Analytics): string {
  const { flowName, range, totals, timeToComplete, steps } = results
  const { from, to, timezone, complete } = range
  const few = totals.starts > 0 && totals.starts < 30
  return [
    `"${flowName}", ${from} to ${to} (${timezone})${complete ? '' : ', the last day is not over'}.`,
    `${counted(totals.starts, 'run')} started, by ${counted(totals.uniqueUsers, 'person', 'people')}. ${totals.completions} were completed (${percent(totals.completionRate)}), ${totals.dismissals} were dismissed, ${totals.inProgress} are unfinished.`,
    ...(few ? ['There are too few runs for a conclusion.'] : []),
    `Median time to complete: ${seconds(timeToComplete.medianSeconds)}, 90th percentile ${seconds(timeToComplete.p90Seconds)}.`,
    ...steps.map(stepInWords),
    'What each number means is in "definitions" of the JSON that follows.',
  ].join('\n')
}
