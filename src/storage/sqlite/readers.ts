import type { Database } from 'bun:sqlite'
import { type PersonIds, personOf } from '../../core/event/event.ts'
import type { FlowHistory } from '../../core/flow/decision.ts'
import { historyOf } from '../../core/flow/past-run.ts'
import { checklistHistory } from '../../core/run/checklist.ts'
import { least } from '../../core/run/run.ts'
import type { TimeRange } from '../../core/time/time-range.ts'
import { TimeSlices } from '../../scheduling/cooperative.ts'
import type { AnalyticsReader } from '../interfaces/analytics.ts'
import type { ChecklistReader } from '../interfaces/checklists.ts'
import type { HistoryReader } from '../interfaces/flows.ts'
import type { RunRow } from '../interfaces/runs.ts'
import type { InRows, StoredEvent } from '../shared/in-rows.ts'
import { ticksReader } from './checklists/checklist-progress.ts'
import { firstCompletion } from './checklists/completion-table.ts'
import { pages } from './database/pages.ts'
import { flowEvents } from './ledger/ledger.ts'
import { causedReader } from './people/caused-events.ts'
import { pastRunsReader } from './runs/past-runs.ts'
import { partyReader } from './runs/run-people.ts'
import { type RunRecord, runRowColumns, runRowOf } from './runs/run-rows.ts'

/**
 * Rows that a statement reads before other requests get their turn. They are few, so that a garbage
 * collection meanwhile finds little that is still held, and ages none of it.
 */
const pageRows = 256

/** Events that are handed out at once, few for the same reason: processing them takes half a millisecond. */
const sliceEvents = 192

function statements(database: Database) {
  const runsThat = (condition: string) =>
    database.query<RunRecord, [number, number, number, number, number]>(
      `select ${runRowColumns} from runs
      where org_id = ? and flow_id = ? and (started_at, id) > (?, ?) and started_at < ?
        and ${condition}
      order by started_at, id limit ${pageRows}`,
    )
  return {
    runs: runsThat('true'),
    runsWithAnswers: runsThat('answers is not null'),
    lastStart: database.query<{ at: number | null }, [number, number]>(
      'select max(started_at) as at from runs where org_id = ? and flow_id = ?',
    ),
    checklistAt: database.query<{ checklist_at: number | null }, [number, number, string]>(
      'select checklist_at from progress where org_id = ? and flow_id = ? and person = ?',
    ),
  }
}

/** What requests read of single rows, over a connection that cannot write. */
export class Readers
  implements
    InRows<Pick<AnalyticsReader, 'runs' | 'answers' | 'lastStart' | 'events'>>,
    InRows<Pick<ChecklistReader, 'progress'>>,
    InRows<HistoryReader>
{
  private readonly sql
  private readonly firstCompletion
  private readonly pastRuns
  private readonly partyOf
  private readonly ticksOf
  private readonly causedBy

  constructor(private readonly database: Database) {
    this.sql = statements(database)
    this.firstCompletion = firstCompletion(database)
    this.pastRuns = pastRunsReader(database)
    this.partyOf = partyReader(database)
    this.ticksOf = ticksReader(database)
    this.causedBy = causedReader(database)
  }

  runs(orgRow: number, flowRow: number, range: TimeRange) {
    return this.runsBy(this.sql.runs, orgRow, flowRow, range)
  }

  answers(orgRow: number, flowRow: number, range: TimeRange) {
    return this.runsBy(this.sql.runsWithAnswers, orgRow, flowRow, range)
  }

  async lastStart(orgRow: number, flowRow: number) {
    return this.sql.lastStart.get(orgRow, flowRow)!.at
  }

  private async *runsBy(
    statement: ReturnType<typeof statements>['runs'],
    orgRow: number,
    flowRow: number,
    range: TimeRange,
  ): AsyncIterable<readonly InRows<RunRow>[]> {
    const next = (last: RunRecord | null) =>
      statement.all(orgRow, flowRow, last?.started_at ?? range.startMs, last?.id ?? 0, range.endMs)
    const slices = new TimeSlices()
    await slices.rest()
    for (const page of pages<RunRecord, RunRecord | null>(next, null, pageRows)) {
      if (page.length > 0) yield page.map(runRowOf)
      await slices.rest()
    }
  }

  async *events(orgRow: number, flowRow: number, range: TimeRange) {
    let events: StoredEvent[] = []
    const slices = new TimeSlices()
    await slices.rest()
    for (const ofBatch of flowEvents(this.database, orgRow, flowRow, range)) {
      events.push(...ofBatch)
      if (events.length >= sliceEvents) {
        yield events
        events = []
      }
      // Also after a batch that has nothing that is needed, because there may be many such batches.
      await slices.rest()
    }
    if (events.length > 0) yield events
  }

  async progress(orgRow: number, flowRow: number, { userId, anonymousId }: PersonIds) {
    const person = personOf(userId, anonymousId)
    const ticks = this.partyOf(orgRow, flowRow, person).flatMap(other =>
      this.ticksOf(orgRow, flowRow, other),
    )
    const { states: ticked } = checklistHistory(ticks, () => [])
    const checklistAt = this.sql.checklistAt.get(orgRow, flowRow, person)?.checklist_at ?? null
    const reportedAt = this.firstCompletion(orgRow, flowRow, person)
    return { ticked, completedAt: least(reportedAt, checklistAt) }
  }

  async histories(
    orgRow: number,
    flowRows: readonly number[],
    { userId, anonymousId }: PersonIds,
  ): Promise<ReadonlyMap<number, FlowHistory>> {
    const person = personOf(userId, anonymousId)
    const histories = new Map<number, FlowHistory>()
    for (const flowRow of flowRows) {
      const runs = this.pastRuns(orgRow, flowRow, person)
      if (runs.length > 0) histories.set(flowRow, historyOf(runs))
    }
    return histories
  }

  async caused(orgRow: number, { userId, anonymousId }: PersonIds) {
    return this.causedBy(orgRow, personOf(userId, anonymousId))
  }
}
