import { shareDifference } from '../../../core/number/interval.ts'
import { quotient } from '../../../core/number/statistics.ts'
import { Rate } from '../parts/rate.tsx'
import { Table } from '../parts/table.tsx'
import { Tip } from '../parts/tip.tsx'
import { formatCount } from '../words/time.ts'
import { experimentWords as words } from '../words/when.ts'
import type { Analytics } from './question.ts'

const signed = (points: number) => `${points > 0 ? '+' : ''}${points.toFixed(1)}`

/** A share of four decimals in percentage points. */
const points = (share: number) => signed(quotient(Math.round(share * 10_000), 100, 1)!)

/** Computed from counts, because the answer's difference has been rounded. */
const pointsBetween = ({ shown, heldOut }: NonNullable<Analytics['experiment']>) => {
  const of = ({ achieved, people }: typeof shown) => ({ hits: 100 * achieved, trials: people })
  return signed(shareDifference(of(shown), of(heldOut), 1)!)
}

/** For a flow that holds people back: whether those who saw it reach its goal more often. */
export function Experiment({ data: { experiment, definitions } }: { data: Analytics }) {
  if (experiment === undefined) return null
  if (experiment === null) {
    return (
      <section class="part">
        <h2>{words.title}</h2>
        <p class="hint">{words.bySegment}</p>
      </section>
    )
  }
  const { goal, shown, heldOut, difference, interval } = experiment
  const rows = [
    { name: words.shown, ...shown },
    { name: words.heldOut, ...heldOut },
  ]
  return (
    <section class="part">
      <h2>{words.title}</h2>
      <p class="hint">{words.why(goal)}</p>
      <Table
        caption={words.title}
        rows={rows}
        keyOf={({ name }) => name}
        columns={[
          { name: words.group, isTitle: true, cell: ({ name }) => name },
          {
            name: words.people,
            means: definitions['experiment.people'],
            isNumber: true,
            cell: ({ people }) => formatCount(people),
          },
          {
            name: words.achieved,
            means: definitions['experiment.achieved'],
            isNumber: true,
            cell: ({ achieved }) => formatCount(achieved),
          },
          {
            name: words.rate,
            means: definitions['experiment.rate'],
            isNumber: true,
            cell: ({ people, achieved }) => <Rate hits={achieved} of={people} />,
          },
        ]}
      />
      {difference !== null && interval ? (
        <p>
          <Tip text={definitions['experiment.interval']}>
            {words.difference(
              pointsBetween(experiment),
              points(interval.low),
              points(interval.high),
            )}
          </Tip>{' '}
          {interval.low <= 0 && interval.high >= 0 && words.mayBeChance}
        </p>
      ) : (
        <p class="hint">{words.nobody}</p>
      )}
    </section>
  )
}
