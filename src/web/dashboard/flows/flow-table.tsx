import type { Summary } from '../../../modules/analytics/schema.ts'
import type { FlowSummary } from '../analytics/summary.ts'
import { Sparkline } from '../charts/sparkline.tsx'
import { Badge } from '../parts/badge.tsx'
import { Rate } from '../parts/rate.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { addressOf, useFilters } from '../shell/address.ts'
import { type StepCheck, toneOfState, worstState } from '../steps/health.ts'
import { flowWords as words } from '../words/flows.ts'
import { formatCount, formatTypical, none } from '../words/time.ts'
import { type AuthoredFlow, toneOfStatus } from './flow-list.ts'

interface Row {
  flow: AuthoredFlow
  /** Null until they have come. */
  numbers: FlowSummary | null
  health: ReturnType<typeof worstState>
}

const columns = (definitions: Summary['definitions'], tz: string | undefined): Column<Row>[] => {
  const { columns } = words
  return [
    {
      name: columns.flow,
      isTitle: true,
      cell: ({ flow }) => (
        <>
          <a class="row-link" href={addressOf(['flows', flow.key], { tz })}>
            {flow.name}
          </a>
          <span class="row-note">
            {words.kinds[flow.kind]} · <code>{flow.key}</code>
          </span>
        </>
      ),
    },
    {
      name: columns.status,
      cell: ({ flow }) => (
        <span class="badges">
          <Badge tone={toneOfStatus[flow.status]}>
            {words.statuses[flow.status]}
            {flow.version !== null && ` ${words.version(flow.version)}`}
          </Badge>
          {flow.hasDraft && flow.status === 'published' && (
            <Badge tone="accent">{words.waiting}</Badge>
          )}
        </span>
      ),
    },
    {
      name: columns.trend,
      cell: ({ flow, numbers }) =>
        numbers &&
        flow.version !== null && (
          <Sparkline days={numbers.daily} name={`${flow.name}, ${columns.trend}`} />
        ),
    },
    {
      name: columns.starts,
      means: definitions.starts,
      isNumber: true,
      cell: ({ numbers }) => (numbers ? formatCount(numbers.totals.starts) : none),
    },
    {
      name: columns.completion,
      means: definitions.completionRate,
      isNumber: true,
      cell: ({ numbers }) =>
        numbers ? <Rate hits={numbers.totals.completions} of={numbers.totals.starts} /> : none,
    },
    {
      name: columns.median,
      means: definitions.medianSeconds,
      isNumber: true,
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
      name: columns.health,
      means: definitions['health.state'],
      cell: ({ health }) =>
        health ? (
          <Badge tone={toneOfState[health]}>{words.health[health]}</Badge>
        ) : (
          <span class="hint">{words.health.none}</span>
        ),
    },
  ]
}

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
      caption={words.title}
      columns={columns(summary?.definitions ?? {}, filters.tz)}
      rows={rows}
      keyOf={({ flow }) => flow.key}
    />
  )
}
