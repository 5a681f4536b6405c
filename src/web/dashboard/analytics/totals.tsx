import type { ComponentChildren } from 'preact'
import { wilsonInterval } from '../../../core/number/interval.ts'
import { quotient } from '../../../core/number/statistics.ts'
import { Rate } from '../parts/rate.tsx'
import { Tip } from '../parts/tip.tsx'
import { analyticsWords as words } from '../words/analytics.ts'
import {
  fewest,
  formatCount,
  formatPercent,
  formatSeconds,
  formatShare,
  formatTypical,
} from '../words/time.ts'
import type { Analytics, Question } from './question.ts'

/** By how much a count has grown, in percent; null if there were too few before. */
const changeOf = (now: number, before: number): string | null => {
  if (before < fewest) return null
  const change = quotient(100 * (now - before), before, 0)!
  return change === 0 ? '±0%' : `${change > 0 ? '+' : '−'}${Math.abs(change)}%`
}

function Figure({
  name,
  means,
  children,
  below,
}: {
  name: string
  means: string | undefined
  children: ComponentChildren
  below?: ComponentChildren
}) {
  return (
    <div class="figure">
      <dt>
        <Tip text={means}>{name}</Tip>
      </dt>
      <dd class="figure-value number">{children}</dd>
      <dd class="figure-below number">{below}</dd>
    </div>
  )
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
  return <p class="footnote">{isApart ? words.apart(share(before), share(now)) : words.overlap}</p>
}

/** The flow in a few numbers, beside those that they are compared with. */
export function Totals({
  data,
  other,
  otherName,
  question,
}: {
  data: Analytics
  other: Analytics | null
  otherName: string
  question: Question
}) {
  const { totals, timeToComplete, definitions } = data
  const isVersion = question.compare.startsWith('v')
  const beside = (value: string) => (
    <bdi>{isVersion ? words.other(value, otherName) : words.before(value)}</bdi>
  )
  const counted = (field: 'starts' | 'uniqueUsers' | 'dismissals' | 'inProgress') => {
    if (!other) return null
    const change = isVersion ? null : changeOf(totals[field], other.totals[field])
    return (
      <>
        {change && <strong>{change}</strong>} {beside(formatCount(other.totals[field]))}
      </>
    )
  }
  const isFew = totals.starts < fewest
  return (
    <section aria-label={words.totals}>
      <dl class="figures">
        <Figure name={words.starts} means={definitions.starts} below={counted('starts')}>
          {formatCount(totals.starts)}
        </Figure>
        <Figure name={words.people} means={definitions.uniqueUsers} below={counted('uniqueUsers')}>
          {formatCount(totals.uniqueUsers)}
        </Figure>
        <Figure
          name={words.completion}
          means={definitions.completionRate}
          below={
            <>
              {other && <p>{beside(formatShare(other.totals.completions, other.totals.starts))}</p>}
              <p>
                <bdi>{words.completed(formatCount(totals.completions))}</bdi>
              </p>
            </>
          }
        >
          <Rate hits={totals.completions} of={totals.starts} />
        </Figure>
        <Figure
          name={words.median}
          means={definitions.timeToComplete}
          below={
            <>
              {other && other.timeToComplete.count >= fewest && (
                <p>{beside(formatSeconds(other.timeToComplete.medianSeconds))}</p>
              )}
              {timeToComplete.count >= fewest && (
                <p>
                  <bdi>{words.p90(formatSeconds(timeToComplete.p90Seconds))}</bdi>
                </p>
              )}
            </>
          }
        >
          <bdi>{formatTypical(timeToComplete.medianSeconds, timeToComplete.count)}</bdi>
        </Figure>
        <Figure name={words.dismissed} means={definitions.dismissals} below={counted('dismissals')}>
          {formatCount(totals.dismissals)}
        </Figure>
        <Figure
          name={words.inProgress}
          means={definitions.inProgress}
          below={counted('inProgress')}
        >
          {formatCount(totals.inProgress)}
        </Figure>
      </dl>
      {isFew ? (
        <p class="footnote">{words.tooFew}</p>
      ) : (
        other && <Verdict now={totals} before={other.totals} />
      )}
    </section>
  )
}
