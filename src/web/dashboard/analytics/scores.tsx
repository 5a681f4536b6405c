import { BarChart } from '../charts/bar-chart.tsx'
import {
  fewest,
  formatCount,
  formatDays,
  formatShare,
  formatShortDay,
  none,
} from '../parts/format.ts'
import { type Column, Table } from '../parts/table.tsx'
import { useFilters } from '../shell/address.ts'
import { Behind, barColumn, Counted } from './behind.tsx'
import type { StepNumbers } from './question.ts'

export type Numbers = NonNullable<StepNumbers['question']>
type Scored = Pick<Numbers, 'answers' | 'average' | 'nps'>

export const groups = ['promoters', 'passives', 'detractors'] as const
export const groupNames = { promoters: 'Promoters', passives: 'Passives', detractors: 'Detractors' }
const groupValues = { promoters: '9-10', passives: '7-8', detractors: '0-6' }

/** The score of a rating: its NPS, or else its average; null if there are too few answers. */
export const scoreOf = ({ answers, average, nps }: Scored): number | null =>
  answers < fewest ? null : nps ? nps.score : average

export const formatScore = (score: number | null): string =>
  score === null ? none : new Intl.NumberFormat('en', { maximumFractionDigits: 2 }).format(score)

/** The address of the people who gave an answer, which is behind each number. */
function useRespondents(step: string): (value: string) => string {
  const { withFilters } = useFilters()
  return value => `${withFilters({ survey: step, value })}#respondents-${step}`
}

export function Score({
  step: { key, reached },
  numbers,
}: {
  step: StepNumbers
  numbers: Numbers
}) {
  const { nps, answers, average, median } = numbers
  const respondents = useRespondents(key)
  return (
    <dl class="row gap-5 start">
      <div class="answer-figure">
        <dt class="soft">{nps ? 'NPS (−100 to 100)' : 'Average'}</dt>
        <dd class="score">{formatScore(scoreOf(numbers))}</dd>
      </div>
      {nps &&
        groups.map(group => (
          <div class={`answer-figure ${group}`} key={group}>
            <dt class="soft">
              {groupNames[group]} ({groupValues[group].replace('-', '–')})
            </dt>
            <dd>
              <Behind count={nps[group]} href={respondents(groupValues[group])} />{' '}
              <small>{formatShare(nps[group], answers)}</small>
            </dd>
          </div>
        ))}
      <div class="answer-figure">
        <dt class="soft">{nps ? 'Average' : 'Median'}</dt>
        <dd>{formatScore(answers < fewest ? null : nps ? average : median)}</dd>
      </div>
      <div class="answer-figure">
        <dt class="soft">Response rate</dt>
        <dd>
          {formatShare(answers, reached)}{' '}
          <small>
            {formatCount(answers)} of {formatCount(reached)} runs
          </small>
        </dd>
      </div>
    </dl>
  )
}

/** The score by week. A period with too few answers has no bar, only its number of answers. */
export function Trend({ numbers, title }: { numbers: Numbers; title: string }) {
  const { trend = [], nps } = numbers
  if (trend.filter(period => scoreOf(period) !== null).length < 2) return null
  const unit = nps ? 'NPS' : 'average'
  return (
    <div>
      <h4>{nps ? 'NPS' : 'Average'} by week</h4>
      <BarChart
        height={150}
        name={`${unit} by week of “${title}”`}
        classes={['completions']}
        least={nps ? 100 : 5}
        lowest={nps ? -100 : 0}
        slots={trend.map(period => {
          const score = scoreOf(period)
          return {
            key: period.from,
            label: formatShortDay(period.from),
            title: formatDays(period.from, period.to),
            parts: score === null ? null : [score],
            numbers: [
              [unit, formatScore(score)],
              ['answers', formatCount(period.answers)],
              ...(period.nps ? [['detractors', formatCount(period.nps.detractors)] as const] : []),
            ],
          }
        })}
      />
    </div>
  )
}

export function Distribution({
  step: { key, title },
  numbers,
  flowKey,
}: {
  step: StepNumbers
  numbers: Numbers
  flowKey: string
}) {
  const { answers, distribution, type } = numbers
  const isRating = type === 'rating'
  // How ratings are distributed shows in the form of all bars, so the longest is as wide as the column.
  const whole = isRating ? Math.max(...distribution.map(({ count }) => count)) : answers
  const respondents = useRespondents(key)
  const columns: Column<Numbers['distribution'][number]>[] = [
    {
      name: 'Answer',
      isTitle: true,
      value: ({ value, label }) => (typeof value === 'number' ? value : (label ?? value)),
      cell: ({ value, label }) => (
        <span class="row">
          {typeof value === 'number' ? value : (label ?? value)}
          {typeof value === 'number' && label && <small>{label}</small>}
        </span>
      ),
    },
    barColumn('Share of answers', whole, ({ count }) => count),
    {
      name: 'Answers',
      isNumber: true,
      value: ({ count }) => count,
      cell: ({ count, value }) => (
        <Counted count={count} of={answers} href={respondents(`${value}`)} />
      ),
    },
  ]
  return (
    <Table
      caption={`Answers to “${title || key}”`}
      class={`funnel items answers ${isRating ? 'histogram' : ''}`}
      file={`${flowKey}-${key}-answers`}
      columns={columns}
      rows={distribution}
      keyOf={({ value }) => value}
    />
  )
}
