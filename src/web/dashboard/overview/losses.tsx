import { Behind } from '../analytics/behind.tsx'
import type { FlowSummary } from '../analytics/summary.ts'
import { Sparkline } from '../charts/sparkline.tsx'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import { Badge } from '../parts/badge.tsx'
import { fewest, formatPercent } from '../parts/format.ts'
import { Rate } from '../parts/rate.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { addressOf } from '../shell/address.ts'
import { type CheckedStep, isWell, sayFound } from '../steps/health.ts'

type WorstStep = NonNullable<FlowSummary['worstSteps']>[number]

export interface Loss {
  flow: AuthoredFlow
  numbers: FlowSummary
  /** The step at which the most runs left. */
  worst: WorstStep | null
  /** Among the worst steps, the one whose element is not always found. */
  broken: { step: WorstStep; check: CheckedStep } | null
}

/** Runs that ended without a completion: dismissed or stalled. */
const lostOf = ({ totals: { dismissals, stalled = 0 } }: FlowSummary) => dismissals + stalled

/** Flows with the most lost runs first, then those with the most starts. */
export function lossesOf(
  flows: readonly AuthoredFlow[],
  numbers: readonly FlowSummary[],
  checks: readonly CheckedStep[],
): Loss[] {
  return flows
    .flatMap((flow): Loss[] => {
      const own = numbers.find(({ flowKey }) => flowKey === flow.key)
      if (!own || flow.status === 'archived') return []
      const steps = own.worstSteps?.filter(({ reached }) => reached >= fewest) ?? []
      const broken = steps.flatMap(step => {
        const isOf = (one: CheckedStep) => one.flow === flow.key && one.step === step.key
        const check = checks.find(one => isOf(one) && !isWell(one.state))
        return check ? [{ step, check }] : []
      })
      return [{ flow, numbers: own, worst: steps[0] ?? null, broken: broken[0] ?? null }]
    })
    .sort(
      (a, b) =>
        lostOf(b.numbers) - lostOf(a.numbers) || b.numbers.totals.starts - a.numbers.totals.starts,
    )
}

interface LinkParams {
  /** The first day, and the zone of days. */
  from: string
  tz: string
}

/** What share leaves at a step, in a sentence that opens the people. */
function Leaving({ flow, step, params }: { flow: string; step: WorstStep; params: LinkParams }) {
  const { key, title, position, left, reached } = step
  const filters = { ...params, furthest: key, outcome: 'left' }
  return (
    <a href={addressOf(['flows', flow, 'runs'], filters)}>
      {formatPercent(left / reached)} leave at step {position + 1}, “{title || key}”
    </a>
  )
}

/** Where a flow loses most, and what is broken there, with the way to its repair. */
function Story({ loss: { flow, worst, broken }, params }: { loss: Loss; params: LinkParams }) {
  if (!worst && !broken) return null
  return (
    <span class="stack gap-1">
      {worst && worst.key !== broken?.step.key && (
        <Leaving flow={flow.key} step={worst} params={params} />
      )}
      {broken && (
        <span>
          <Leaving flow={flow.key} step={broken.step} params={params} />. {sayFound(broken.check)}.{' '}
          <a href={`${addressOf(['flows', flow.key, 'health'])}#step-${broken.step.key}`}>
            Fix step
          </a>
        </span>
      )}
    </span>
  )
}

const columnsOf = (params: LinkParams): Column<Loss>[] => [
  {
    name: 'Flow',
    isTitle: true,
    value: ({ flow }) => flow.name,
    cell: ({ flow, numbers }) => (
      <>
        <a class="row-link" href={addressOf(['flows', flow.key], { tz: params.tz })}>
          {flow.name}
        </a>
        {numbers.stalled && (
          <span class="row-note fine">
            <Badge tone="warn">Stalled</Badge> No runs in the last 7 days
          </span>
        )}
        {flow.status === 'draft' && (
          <span class="row-note fine">
            <Badge>Draft</Badge>
          </span>
        )}
      </>
    ),
  },
  {
    name: 'Starts per day',
    cell: ({ flow, numbers }) =>
      flow.version !== null && (
        <Sparkline days={numbers.daily.slice(-14)} name={`${flow.name}, starts per day`} />
      ),
  },
  { name: 'Starts', isNumber: true, value: ({ numbers }) => numbers.totals.starts },
  {
    name: 'Completion',
    means: 'Completed runs out of all runs that started. Below it, the 95% interval.',
    unit: '%',
    isNumber: true,
    value: ({ numbers: { totals } }) =>
      totals.completionRate === null ? null : Math.round(totals.completionRate * 1000) / 10,
    cell: ({ numbers: { totals } }) => <Rate hits={totals.completions} of={totals.starts} />,
  },
  {
    name: 'Lost',
    means: 'Runs that were dismissed, or had no activity for 7 days.',
    isNumber: true,
    value: ({ numbers }) => lostOf(numbers),
    cell: ({ flow, numbers }) => (
      <Behind
        count={lostOf(numbers)}
        href={addressOf(['flows', flow.key, 'runs'], { ...params, outcome: 'left' })}
      />
    ),
  },
  {
    name: 'Where people leave',
    value: ({ worst }) => worst && (worst.title || worst.key),
    cell: loss => <Story loss={loss} params={params} />,
  },
]

/** All flows, ranked by what is lost. */
export const Losses = ({ losses, params }: { losses: readonly Loss[]; params: LinkParams }) => (
  <Table
    caption="Flows, most lost runs first"
    file="flows"
    columns={columnsOf(params)}
    rows={losses}
    keyOf={({ flow }) => flow.key}
  />
)
