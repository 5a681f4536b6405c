import type { Database } from 'bun:sqlite'
import type { TimeRange } from '../../../core/time/time-range.ts'
import type { AnalyticsReader } from '../../../modules/analytics/port.ts'
import { TimeSlices } from '../../../scheduling/cooperative.ts'
import type { InRows } from '../../shared/in-rows.ts'
import { type RunRecord, runRowOf } from '../../sqlite/runs/run-rows.ts'
import type { Postgres, Queries } from '../database/connection.ts'
import { inSlices, pages } from '../database/pages.ts'
import { dayOf, type EventRow, eventColumns, eventOf } from '../events/event-rows.ts'
import { asDoubles } from '../rows/arrays.ts'
import { experimentOver } from './experiment.ts'
import { RunHistory, type Seal } from './run-history.ts'

/** As `runRowColumns`. */
const runColumns = [
  asDoubles('runs', 'id', 'started_at', 'last_at', 'version', 'completed_at', 'dismissed_at'),
  'run_key, person, steps, traits, answers',
].join(', ')

/** Rows that a statement reads: planning it may take milliseconds if a table has many partitions. */
const pageRows = 2_048

/** Rows that are handed out at once: processing them takes a millisecond or two. */
const sliceRows = 256

/**
 * What analytics reads. Downloads read page by page, each page as of its own moment, so that a slow client holds
 * nothing.
 *
 * @param postgres a pool that plans anew
 * @param copy the node's own
 */
export function analyticsOver(
  postgres: Postgres,
  copy: Database,
  seal: Seal,
): InRows<AnalyticsReader> {
  const history = new RunHistory(postgres, copy, seal)
  return {
    runs: (orgRow, flowRow, range) => runsIn(postgres, orgRow, flowRow, range),
    answers: (orgRow, flowRow, range) =>
      runsIn(postgres, orgRow, flowRow, range, 'and answers is not null'),
    events: (orgRow, flowRow, range) => eventsIn(postgres, orgRow, flowRow, range),
    experiment: experimentOver(postgres),
    columns: (flow, { startMs, endMs }, beside) => history.between(flow, startMs, endMs, beside),
  }
}

async function* runsIn(
  queries: Queries,
  orgRow: number,
  flowRow: number,
  { startMs, endMs }: TimeRange,
  condition = '',
) {
  const next = ({ started_at, id }: Pick<RunRecord, 'started_at' | 'id'>) =>
    queries.all<RunRecord>(
      `select ${runColumns} from runs
      where org_id = $1 and flow_id = $2 and (started_at, id) > ($3, $4) and started_at < $5
        ${condition}
      order by runs.started_at, runs.id limit ${pageRows}`,
      ...[orgRow, flowRow, started_at, id, endMs],
    )
  const rows = pages(next, { started_at: startMs, id: 0 }, pageRows)
  for await (const slice of inSlices(rows, sliceRows, new TimeSlices())) yield slice.map(runRowOf)
}

async function* eventsIn(
  queries: Queries,
  orgRow: number,
  flowRow: number,
  { startMs, endMs }: TimeRange,
) {
  // No event occurs after its receipt. The day before is read because clocks of nodes may differ.
  const firstDay = dayOf(startMs) - 1
  const next = ({ seq }: Pick<EventRow, 'seq'>) =>
    queries.all<EventRow>(
      `select ${eventColumns} from events
      where org_id = $1 and flow_id = $2 and seq > $3 and occurred_at >= $4 and occurred_at < $5
        and day >= $6
      order by events.seq limit ${pageRows}`,
      ...[orgRow, flowRow, seq, startMs, endMs, firstDay],
    )
  const rows = pages(next, { seq: 0 }, pageRows)
  for await (const slice of inSlices(rows, sliceRows, new TimeSlices())) yield slice.map(eventOf)
}
