import type { Database } from 'bun:sqlite'
import type { CausedAt } from '../../core/event/caused.ts'
import { personOf, rejectionCodes } from '../../core/event/event.ts'
import type { PersonIds } from '../../core/event/stored-event.ts'
import type { FlowHistory } from '../../core/flow/decision.ts'
import { buckets } from '../../core/organisation/buckets.ts'
import { presenceMarks } from '../../core/organisation/presence.ts'
import { summedHours } from '../../core/organisation/verified-identity.ts'
import { checklistHistory } from '../../core/run/checklist.ts'
import { historyOf } from '../../core/run/past-run.ts'
import { least } from '../../core/run/run.ts'
import type { RunRow } from '../../core/run/stored-run.ts'
import { hourMs } from '../../core/time/durations.ts'
import type { TimeRange } from '../../core/time/time-range.ts'
import type { AnalyticsReader } from '../../modules/analytics/port.ts'
import type { ChecklistReader } from '../../modules/checklists/port.ts'
import type { HistoryReader } from '../../modules/flows/port.ts'
import type { CountedSince, Presence } from '../../modules/installation/port.ts'
import { TimeSlices } from '../../scheduling/cooperative.ts'
import type { PresenceBoard } from '../shared/boards.ts'
import type { InRows, StoredEvent } from '../shared/in-rows.ts'
import { countsKeptMs, limitReached, refusedOrigin } from '../shared/refusals.ts'
import { type TicksOf, ticksReader } from './checklists/checklist-progress.ts'
import { type FirstCompletion, firstCompletion } from './checklists/completion-table.ts'
import { flowEvents } from './ledger/ledger.ts'
import { identityHours } from './organisations/identity-counts.ts'
import { causedReader } from './people/caused-events.ts'
import { type PastRuns, pastRunsReader } from './runs/past-runs.ts'
import { type PartyOf, partyReader } from './runs/run-people.ts'
import { type RunRecord, runRowColumns, runRowOf } from './runs/run-rows.ts'

/**
 * Rows a statement reads before other requests get their turn: few, so that a collection of garbage
 * meanwhile finds little that is still held, and ages none of it.
 */
const pageRows = 256

/** Events that are handed out at once, for the same reason: what becomes of them takes half a millisecond. */
const sliceEvents = 192

/**
 * Pages through rows by key, each page a statement of its own: an open snapshot would stop
 * checkpoints for as long as a slow download takes.
 */
async function* pages<Row>(next: (last: Row | null) => Row[]): AsyncIterable<Row[]> {
  const slices = new TimeSlices()
  let last: Row | null = null
  for (;;) {
    await slices.rest()
    const page = next(last)
    if (page.length > 0) yield page
    if (page.length < pageRows) return
    last = page.at(-1) as Row
  }
}

/** The counts of some words, each stored under a code of its own; words never counted are left out. */
function countsIn<Word extends string>(
  refusals: ReadonlyMap<string, number>,
  words: readonly Word[],
  codeOf: (word: Word) => string,
): Partial<Record<Word, number>> {
  const counted = words.filter(word => refusals.has(codeOf(word)))
  const entries = counted.map(word => [word, refusals.get(codeOf(word))])
  return Object.fromEntries(entries) as Partial<Record<Word, number>>
}

function statements(database: Database) {
  return {
    runs: database.query<RunRecord, [number, number, number, number, number]>(
      `select ${runRowColumns} from runs
      where org_id = ? and flow_id = ? and (started_at, id) > (?, ?) and started_at < ?
      order by started_at, id limit ${pageRows}`,
    ),
    runsWithAnswers: database.query<RunRecord, [number, number, number, number, number]>(
      `select ${runRowColumns} from runs
      where org_id = ? and flow_id = ? and (started_at, id) > (?, ?) and started_at < ?
        and answers is not null
      order by started_at, id limit ${pageRows}`,
    ),
    checklistAt: database.query<{ checklist_at: number | null }, [number, number, string]>(
      'select checklist_at from progress where org_id = ? and flow_id = ? and person = ?',
    ),
    presence: database.query<Record<string, number | string | null>, [number]>(
      'select * from presence where org_id = ?',
    ),
    refusals: database.query<{ code: string; count: number }, [number, number]>(
      `select code, sum(count) as count from refusals
      where org_id = ? and hour > ? group by code order by code`,
    ),
    // The first hour of the latest time without a gap of a day.
    refusedSince: database.query<{ code: string; hour: number }, [number, number]>(
      `select code, max(hour) as hour from (
        select code, hour, lag(hour) over (partition by code order by hour) as before
        from refusals where org_id = ? and hour > ?)
      where before is null or hour - before > 24 group by code`,
    ),
    wrongHashesSince: database.query<{ hour: number | null }, [number, number]>(
      `select max(hour) as hour from (
        select hour, lag(hour) over (order by hour) as before from (
          select distinct hour from identity_counts
          where org_id = ? and hour > ? and verdict in ('invalid', 'missing')))
      where before is null or hour - before > 24`,
    ),
  }
}

/** What requests read of single rows, over a connection that cannot write. */
export class Readers
  implements
    InRows<Pick<AnalyticsReader, 'runs' | 'answers' | 'events'>>,
    InRows<Pick<ChecklistReader, 'progress'>>,
    InRows<HistoryReader>
{
  private readonly sql: ReturnType<typeof statements>
  private readonly flowEvents: ReturnType<typeof flowEvents>
  private readonly firstCompletion: FirstCompletion
  private readonly pastRuns: PastRuns
  private readonly identityHours: ReturnType<typeof identityHours>
  private readonly partyOf: PartyOf
  private readonly ticksOf: TicksOf
  private readonly causedBy: ReturnType<typeof causedReader>

  constructor(
    database: Database,
    private readonly board: PresenceBoard,
  ) {
    this.sql = statements(database)
    this.flowEvents = flowEvents(database)
    this.firstCompletion = firstCompletion(database)
    this.pastRuns = pastRunsReader(database)
    this.identityHours = identityHours(database)
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

  private async *runsBy(
    statement: ReturnType<typeof statements>['runs'],
    orgRow: number,
    flowRow: number,
    range: TimeRange,
  ): AsyncIterable<readonly InRows<RunRow>[]> {
    const next = (last: RunRecord | null) =>
      statement.all(orgRow, flowRow, last?.started_at ?? range.startMs, last?.id ?? 0, range.endMs)
    for await (const page of pages(next)) {
      yield page.map(runRowOf)
    }
  }

  async *events(
    orgRow: number,
    flowRow: number,
    range: TimeRange,
  ): AsyncIterable<readonly StoredEvent[]> {
    let events: StoredEvent[] = []
    const slices = new TimeSlices()
    await slices.rest()
    for (const ofBatch of this.flowEvents(orgRow, flowRow, range)) {
      events.push(...ofBatch)
      if (events.length >= sliceEvents) {
        yield events
        events = []
      }
      // Also where a batch has nothing that is asked for: there may be many such.
      await slices.rest()
    }
    if (events.length > 0) yield events
  }

  async progress(
    orgRow: number,
    flowRow: number,
    ids: PersonIds,
  ): Promise<{ ticked: ReadonlyMap<number, number>; completedAt: number | null }> {
    const person = personOf(ids.userId, ids.anonymousId)
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

  async caused(
    orgRow: number,
    { userId, anonymousId }: PersonIds,
  ): Promise<ReadonlyMap<string, readonly CausedAt[]>> {
    return this.causedBy(orgRow, personOf(userId, anonymousId))
  }

  async presence(orgRow: number, now: number): Promise<Presence> {
    const row = this.sql.presence.get(orgRow)
    const seen = {} as { -readonly [Mark in keyof Presence['seen']]: Presence['seen'][Mark] }
    for (const mark of presenceMarks) {
      const here = this.board.seen(orgRow, mark)
      const first = (row?.[`${mark}_first`] ?? null) as number | null
      const last = (row?.[`${mark}_last`] ?? null) as number | null
      const firstAt = least(first, here?.firstAt ?? null)
      seen[mark] = firstAt === null ? null : { firstAt, lastAt: here?.lastAt ?? last ?? 0 }
    }
    const refusals = new Map(
      this.sql.refusals
        .all(orgRow, Math.floor(now / hourMs) - 24)
        .map(({ code, count }) => [code, count]),
    )
    return {
      seen,
      snippetVersion: (row?.snippet_version as string | null) ?? null,
      skews: row ? (JSON.parse(row.skews as string) as number[]) : [],
      rejections: countsIn(refusals, rejectionCodes, code => code),
      erased: refusals.get('erased') ?? 0,
      refusedOrigins: refusals.get(refusedOrigin) ?? 0,
      limitedMinutes: countsIn(refusals, buckets, limitReached),
      userHashes: summedHours(this.identityHours(orgRow, now)),
    }
  }

  /** See `PresenceBook.since`. */
  async countedSince(orgRow: number, now: number): Promise<CountedSince> {
    const kept = Math.floor((now - countsKeptMs) / hourMs)
    const since = new Map(
      this.sql.refusedSince.all(orgRow, kept).map(({ code, hour }) => [code, hour * hourMs]),
    )
    const wrong = this.sql.wrongHashesSince.get(orgRow, kept)?.hour ?? null
    return {
      rejections: countsIn(since, rejectionCodes, code => code),
      refusedOrigins: since.get(refusedOrigin) ?? null,
      limited: countsIn(since, buckets, limitReached),
      wrongHashes: wrong === null ? null : wrong * hourMs,
    }
  }
}
