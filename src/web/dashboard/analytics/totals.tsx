import { wilsonInterval } from '../../../core/number/interval.ts'
import { quotient } from '../../../core/number/statistics.ts'
import { Figure } from '../parts/figure.tsx'
import {
  fewest,
  formatCount,
  formatPercent,
  formatSeconds,
  formatShare,
  formatTypical,
} from '../parts/format.ts'
import { Rate } from '../parts/rate.tsx'
import { Behind } from './behind.tsx'
import { type Analytics, type Question, runsBehind } from './question.ts'

/** By how much a count has grown, in percent; null if there were too few before. */
const changeOf = (now: number, before: number): string | null => {
  if (before < fewest) return null
  const change = quotient(100 * (now - before), before, 0)!
  return change === 0 ? '±0%' : `${change > 0 ? '+' : '−'}${Math.abs(change)}%`
}

/** Says whether the difference between two rates is larger than chance may explain. */
function Verdict({ now, before }: { now: Analytics['totals']; before: Analytics['totals'] }) {
  const [one, other] = [now, before].map(totals =>
    wilsonInterval(totals.completions, totals.starts),
  )
  if (!one || !other || Math.min(now.starts, before.starts) < fewest) return null
  const isApart = one.low > other.high || other.low > one.high
  const share = ({ completions, starts }: Analytics['totals']) =>
    formatPercent(completions / starts)
  return (
    <p class="footnote fine">
      {isApart
        ? `Completion went from ${share(before)} to ${share(now)}. The 95% intervals do not overlap: this is more than chance.`
        : 'The 95% intervals overlap: the difference may be chance.'}
    </p>
  )
}

/** What the figures are called, and what they mean. */
const ofRuns = {
  starts: ['Starts', 'Runs that started in this period.'],
  completion: ['Completion', 'Completed runs out of all runs that started in this period.'],
  time: [
    'Median time',
    'Half of the completed runs took at most this long, from start to completion.',
  ],
  dismissed: ['Dismissed', 'Runs that the person closed and never completed.'],
  unfinished: [
    'Unfinished',
    'Runs neither completed nor dismissed. Stalled runs had no activity for 7 days.',
  ],
} as const
const ofOpenings: Record<keyof typeof ofRuns, readonly [name: string, means: string]> = {
  starts: ['Opened', 'How often the resource centre was opened in this period.'],
  completion: ['Chose an item', 'How often an item was chosen, out of all openings.'],
  time: ['Median time', 'Half of the choices were made within this time after opening.'],
  dismissed: ['Closed', 'How often it was closed without a choice.'],
  unfinished: ['Left open', 'How often the page was left while it was open.'],
}

/** The flow in a few numbers, each with its comparison and the runs behind it. */
export function Totals({
  isLauncher,
  data: { flowKey, totals, timeToComplete },
  other,
  otherName,
  question,
}: {
  /** Whether a run is an opening of a launcher. */
  isLauncher: boolean
  data: Analytics
  other: Analytics | null
  otherName: string
  question: Question
}) {
  const words = isLauncher ? ofOpenings : ofRuns
  const named = (figure: keyof typeof words) => {
    const [name, means] = words[figure]
    return { name, means }
  }
  const isVersion = question.compare.startsWith('v')
  const beside = (value: string) => (
    <bdi>{isVersion ? `${value} in ${otherName}` : `${value} before`}</bdi>
  )
  const compared = (field: 'starts' | 'uniqueUsers' | 'dismissals' | 'inProgress') => {
    if (!other) return null
    const change = isVersion ? null : changeOf(totals[field], other.totals[field])
    return (
      <p>
        {change && <strong>{change}</strong>} {beside(formatCount(other.totals[field]))}
      </p>
    )
  }
  const runs = (count: number, outcome: string | null) => (
    <Behind count={count} href={runsBehind(flowKey, question, { outcome })} />
  )
  const stalled = totals.stalled ?? 0
  const active = totals.inProgress - stalled
  return (
    <section aria-label="Totals">
      <dl class="figures framed">
        <Figure {...named('starts')} below={compared('starts')}>
          {runs(totals.starts, null)}
        </Figure>
        <Figure
          name="People"
          means="Each person counts once, however often they came."
          below={compared('uniqueUsers')}
        >
          {formatCount(totals.uniqueUsers)}
        </Figure>
        <Figure
          {...named('completion')}
          below={
            <>
              {other && <p>{beside(formatShare(other.totals.completions, other.totals.starts))}</p>}
              <p>
                {runs(totals.completions, 'completed')} {isLauncher ? 'times' : 'completed'}
              </p>
            </>
          }
        >
          <Rate hits={totals.completions} of={totals.starts} />
        </Figure>
        <Figure
          {...named('time')}
          below={
            <>
              {other && other.timeToComplete.count >= fewest && (
                <p>{beside(formatSeconds(other.timeToComplete.medianSeconds))}</p>
              )}
              {timeToComplete.count >= fewest && (
                <p>
                  <bdi>9 in 10 within {formatSeconds(timeToComplete.p90Seconds)}</bdi>
                </p>
              )}
            </>
          }
        >
          <bdi>{formatTypical(timeToComplete.medianSeconds, timeToComplete.count)}</bdi>
        </Figure>
        <Figure {...named('dismissed')} below={compared('dismissals')}>
          {runs(totals.dismissals, 'dismissed')}
        </Figure>
        <Figure
          {...named('unfinished')}
          below={
            <>
              <p>
                {runs(active, 'active')} active, {runs(stalled, 'stalled')} stalled
              </p>
              {compared('inProgress')}
            </>
          }
        >
          {runs(totals.inProgress, 'in_progress')}
        </Figure>
      </dl>
      {totals.starts < fewest ? (
        <p class="footnote fine">Rates and medians need at least {fewest} runs.</p>
      ) : (
        other && <Verdict now={totals} before={other.totals} />
      )}
    </section>
  )
}
