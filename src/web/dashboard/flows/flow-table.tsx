import { flowKinds } from '../../../core/flow/names.ts'
import type { Summary } from '../../../modules/analytics/schema.ts'
import type { FlowSummary } from '../analytics/summary.ts'
import { Sparkline } from '../charts/sparkline.tsx'
import { Badge } from '../parts/badge.tsx'
import { fewest, formatCount, formatTypical, none } from '../parts/format.ts'
import { Rate } from '../parts/rate.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Tip } from '../parts/tip.tsx'
import { addressOf, useFilters } from '../shell/address.ts'
import { nameOfState, type StepCheck, toneOfState, worstState } from '../steps/health.ts'
import type { AuthoredFlow } from './flow-list.ts'
import { statusOf } from './status.ts'

interface Row {
  flow: AuthoredFlow
  /** Null until they have come. */
  numbers: FlowSummary | null
  health: ReturnType<typeof worstState>
}

function Status({ flow, numbers }: Row) {
  const isStalled = numbers?.stalled === true
  const [tone, name] = statusOf(flow, isStalled)
  return (
    <>
      <Badge tone={tone}>
        <Tip text={isStalled ? 'Nobody has started it in the last 7 days.' : undefined}>{name}</Tip>
      </Badge>
      <span class="row-note fine">
        {[
          flow.version !== null && `v${flow.version}`,
          flow.hasDraft && flow.version !== null && 'unpublished draft',
        ]
          .filter(Boolean)
          .join(', ')}
      </span>
    </>
  )
}

/** What is sorted by: nothing where there are too few runs for the number to be shown. */
const rateOf = ({ numbers }: Row) => {
  if (!numbers || numbers.totals.starts < fewest) return null
  return numbers.totals.completions / numbers.totals.starts
}

const columns = (definitions: Summary['definitions'], tz: string | undefined): Column<Row>[] => [
  {
    name: 'Flow',
    isTitle: true,
    value: ({ flow }) => flow.name,
    cell: ({ flow }) => (
      <>
        <a class="row-link" href={addressOf(['flows', flow.key], { tz })}>
          {flow.name}
        </a>
        <span class="row-note fine">{flowKinds[flow.kind]}</span>
      </>
    ),
  },
  {
    name: 'Status',
    value: ({ flow, numbers }) => statusOf(flow, numbers?.stalled)[1],
    cell: Status,
  },
  {
    name: 'Starts per day',
    cell: ({ flow, numbers }) =>
      numbers &&
      flow.version !== null && (
        <Sparkline days={numbers.daily} name={`${flow.name}, starts per day`} />
      ),
  },
  {
    name: 'Starts',
    means: definitions.starts,
    isNumber: true,
    value: ({ numbers }) => numbers?.totals.starts ?? null,
    cell: ({ numbers }) => (numbers ? formatCount(numbers.totals.starts) : none),
  },
  {
    name: 'Completion',
    means: definitions.completionRate,
    isNumber: true,
    value: rateOf,
    cell: ({ numbers }) =>
      numbers ? <Rate hits={numbers.totals.completions} of={numbers.totals.starts} /> : none,
  },
  {
    name: 'Median time',
    means: definitions.medianSeconds,
    isNumber: true,
    value: ({ numbers }) => numbers?.timeToComplete.medianSeconds ?? null,
    cell: ({ numbers }) =>
      numbers ? (
        <bdi>
          {formatTypical(numbers.timeToComplete.medianSeconds, numbers.timeToComplete.count)}
        </bdi>
      ) : (
        none
      ),
  },
  {
    name: 'Health',
    means: definitions['health.state'],
    value: ({ health }) => (health ? nameOfState[health] : null),
    cell: ({ health }) =>
      health ? (
        <Badge tone={toneOfState[health]}>{nameOfState[health]}</Badge>
      ) : (
        <span class="hint">No targets</span>
      ),
  },
]

/** Flows with the outcomes of their runs, and the health of their steps. */
export function FlowTable({
  flows,
  summary,
  check,
}: {
  flows: readonly AuthoredFlow[]
  summary: Summary | null
  check: StepCheck | null
}) {
  const { filters } = useFilters()
  const rows = flows.map(flow => ({
    flow,
    numbers: summary?.flows.find(({ flowKey }) => flowKey === flow.key) ?? null,
    health: worstState(check?.steps ?? [], flow.key),
  }))
  return (
    <Table
      caption="Flows"
      columns={columns(summary?.definitions ?? {}, filters.tz)}
      rows={rows}
      keyOf={({ flow }) => flow.key}
    />
  )
}
