import type { StepNumbers } from '../analytics/question.ts'
import { analyticsWords as words } from '../words/analytics.ts'
import { formatSeconds } from '../words/time.ts'

const percent = (part: number, whole: number) => `${whole === 0 ? 0 : (part / whole) * 100}%`

/**
 * The share of all starts that reached a step, divided into those that went on, those that still may,
 * and those that left. Below it is the share that it is compared with. The numbers are beside it.
 */
export function Bar({
  step: { reached, droppedHere, stillHere },
  starts,
  before,
}: {
  step: Pick<StepNumbers, 'reached' | 'droppedHere' | 'stillHere'>
  starts: number
  before: number | null
}) {
  const wentOn = reached - droppedHere
  return (
    <svg class="funnel-bar" width="100%" height="26" aria-hidden="true">
      <rect class="rail" width="100%" height="18" y="2" rx="3" />
      <rect class="of-left" width={percent(reached, starts)} height="18" y="2" rx="3" />
      <rect class="of-still" width={percent(wentOn + stillHere, starts)} height="18" y="2" rx="3" />
      <rect class="of-on" width={percent(wentOn, starts)} height="18" y="2" rx="3" />
      {before !== null && (
        <rect class="of-before" width={percent(before, 1)} height="3" y="22" rx="1.5" />
      )}
    </svg>
  )
}

/** A part of a whole. The numbers are beside it. */
export const ShareBar = ({
  part,
  whole,
  height,
}: {
  part: number
  whole: number
  height: number
}) => (
  <svg class="funnel-bar" width="100%" height={height} aria-hidden="true">
    <rect class="rail" width="100%" height={height} rx="3" />
    <rect class="of-on" width={percent(part, whole)} height={height} rx="3" />
  </svg>
)

/** The range from the median to the 90th percentile, on a scale that all steps share. */
export function SecondsRange({
  step: { medianSeconds, p90Seconds },
  longest,
}: {
  step: Pick<StepNumbers, 'medianSeconds' | 'p90Seconds'>
  longest: number
}) {
  const median = percent(medianSeconds ?? 0, longest)
  const p90 = percent(p90Seconds ?? 0, longest)
  return (
    <span class="seconds">
      <bdi>{words.secondsRange(formatSeconds(medianSeconds), formatSeconds(p90Seconds))}</bdi>
      <svg width="100%" height="8" aria-hidden="true">
        <line class="rail" x1="0" x2="100%" y1="4" y2="4" />
        <line class="reach" x1={median} x2={p90} y1="4" y2="4" />
        <circle class="point" cx={median} cy="4" r="3" />
      </svg>
    </span>
  )
}
