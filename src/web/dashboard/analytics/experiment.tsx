import { shareDifference } from '../../../core/number/interval.ts'
import { quotient } from '../../../core/number/statistics.ts'
import { Part } from '../parts/part.tsx'
import { Rate } from '../parts/rate.tsx'
import { Table } from '../parts/table.tsx'
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
export function Experiment({ data: { experiment, flowKey } }: { data: Analytics }) {
  if (experiment === undefined) return null
  if (experiment === null) {
    return (
      <Part title="Impact on goal">
        <p class="hint">
          Not available for one value of a trait: traits of the hold-out group are unknown.
        </p>
      </Part>
    )
  }
  const { goal, shown, heldOut, difference, interval } = experiment
  const rows = [
    { name: 'Saw the flow', ...shown },
    { name: 'Hold-out group', ...heldOut },
  ]
  return (
    <Part title="Impact on goal">
      <p class="hint">
        People who did “{goal}”, among those who saw the flow and those who were held out.
      </p>
      <Table
        caption="People who reached the goal"
        file={`${flowKey}-impact`}
        rows={rows}
        keyOf={({ name }) => name}
        columns={[
          { name: 'Group', isTitle: true, value: ({ name }) => name },
          { name: 'People', isNumber: true, value: ({ people }) => people },
          { name: 'Reached the goal', isNumber: true, value: ({ achieved }) => achieved },
          {
            name: 'Share',
            isNumber: true,
            cell: ({ people, achieved }) => <Rate hits={achieved} of={people} />,
          },
        ]}
      />
      {difference !== null && interval ? (
        <p>
          The flow changes the share by {pointsBetween(experiment)} percentage points (95%:{' '}
          {points(interval.low)} to {points(interval.high)}).{' '}
          {interval.low <= 0 && interval.high >= 0 && 'May be chance: the interval includes zero.'}
        </p>
      ) : (
        <p class="hint">One of the two groups has no people yet.</p>
      )}
    </Part>
  )
}
