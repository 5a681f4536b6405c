import type { Database } from 'bun:sqlite'
import { buckets } from '../core/buckets.ts'
import { itemStates } from '../core/checklist.ts'
import { hourMs } from '../core/durations.ts'
import {
  type EventSource,
  eventKinds,
  eventSources,
  personOf,
  rejectionCodes,
} from '../core/event.ts'
import type {
  AnalyticsReader,
  ChecklistReader,
  PersonIds,
  Presence,
  RunRow,
  StoredEvent,
} from '../core/ports.ts'
import { presenceMarks } from '../core/ports.ts'
import { least } from '../core/run.ts'
import type { TimeRange } from '../core/time-range.ts'
import type { PresenceBoard } from './presence-board.ts'
import { limitReached, refusedOrigin } from './refusals.ts'
import { unpackSteps } from './run-rows.ts'

/** Rows a statement reads before other requests get their turn. */
const pageRows = 1_000

/** Lets whatever else waits on this thread go first. */
const breathe = () => new Promise<void>(resolve => setImmediate(resolve))

interface RunRecord {
  id: number
  run_key: string
  person: string
  started_at: number
  last_at: number
  version: number
  completed_at: number | null
  dismissed_at: number | null
  steps: string
}

/** A row of the ledger. */
export interface EventRecord {
  seq: number
  id: string
  kind: number
  user_id: string | null
  anonymous_id: string | null
  flow_id: number | null
  flow_version: number | null
  step_id: number | null
  item_id: number | null
  run_id: string | null
  session_id: string | null
  occurred_at: number
  reported_at: number | null
  received_at: number
  url: string | null
  name: string | null
  reason: string | null
  properties: string | null
  source: number
}

/** The columns of an event, for every statement that reads whole ones. */
export const eventColumns = `seq, id, kind, user_id, anonymous_id, flow_id, flow_version, step_id,
  item_id, run_id, session_id, occurred_at, reported_at, received_at, url, name, reason, properties,
  source`

export function storedEvent(row: EventRecord): StoredEvent {
  return {
    id: row.id,
    kind: eventKinds[row.kind] as StoredEvent['kind'],
    userId: row.user_id,
    anonymousId: row.anonymous_id,
    flowRow: row.flow_id,
    flowVersion: row.flow_version,
    stepRow: row.step_id,
    itemRow: row.item_id,
    runId: row.run_id,
    sessionId: row.session_id,
    occurredAt: row.occurred_at,
    reportedAt: row.reported_at,
    receivedAt: row.received_at,
    url: row.url,
    name: row.name,
    reason: row.reason,
    properties: row.properties,
    source: eventSources[row.source] as EventSource,
  }
}

/**
 * Pages through rows by key, each page a statement of its own: an open snapshot would stop
 * checkpoints for as long as a slow download takes.
 */
async function* pages<Row>(next: (last: Row | null) => Row[]): AsyncIterable<Row[]> {
  let last: Row | null = null
  for (;;) {
    const page = next(last)
    if (page.length > 0) yield page
    if (page.length < pageRows) return
    last = page.at(-1) as Row
    await breathe()
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
      `select id, run_key, person, started_at, last_at, version, completed_at, dismissed_at, steps
      from runs
      where org_id = ? and flow_id = ? and (started_at, id) > (?, ?) and started_at < ?
      order by started_at, id limit ${pageRows}`,
    ),
    events: database.query<EventRecord, [number, number, number, number, number]>(
      `select ${eventColumns} from events
      where org_id = ? and flow_id = ? and (occurred_at, seq) > (?, ?) and occurred_at < ?
      order by occurred_at, seq limit ${pageRows}`,
    ),
    ticks: database.query<
      { item_id: number; at: number; ticked: number },
      [number, number, string]
    >('select item_id, at, ticked from ticks where org_id = ? and flow_id = ? and person = ?'),
    completion: database.query<
      { reported_at: number | null; checklist_at: number | null },
      [number, number, string]
    >(
      `select reported_at, checklist_at from progress
      where org_id = ? and flow_id = ? and person = ?`,
    ),
    presence: database.query<Record<string, number | string | null>, [number]>(
      'select * from presence where org_id = ?',
    ),
    refusals: database.query<{ code: string; count: number }, [number, number]>(
      `select code, sum(count) as count from refusals
      where org_id = ? and hour > ? group by code order by code`,
    ),
  }
}

/** What requests read of single rows, over a connection that cannot write. */
export class Readers implements Pick<AnalyticsReader, 'runs' | 'events'>, ChecklistReader {
  private readonly sql: ReturnType<typeof statements>

  constructor(
    database: Database,
    private readonly board: PresenceBoard,
  ) {
    this.sql = statements(database)
  }

  async *runs(orgRow: number, flowRow: number, range: TimeRange): AsyncIterable<readonly RunRow[]> {
    const next = (last: RunRecord | null) =>
      this.sql.runs.all(
        orgRow,
        flowRow,
        last?.started_at ?? range.startMs,
        last?.id ?? 0,
        range.endMs,
      )
    for await (const page of pages(next)) {
      yield page.map(row => ({
        key: row.run_key,
        person: row.person,
        startedAt: row.started_at,
        lastAt: row.last_at,
        version: row.version,
        completedAt: row.completed_at,
        dismissedAt: row.dismissed_at,
        steps: unpackSteps(row.steps),
      }))
    }
  }

  async *events(
    orgRow: number,
    flowRow: number,
    range: TimeRange,
  ): AsyncIterable<readonly StoredEvent[]> {
    const next = (last: EventRecord | null) =>
      this.sql.events.all(
        orgRow,
        flowRow,
        last?.occurred_at ?? range.startMs,
        last?.seq ?? 0,
        range.endMs,
      )
    for await (const page of pages(next)) yield page.map(storedEvent)
  }

  async progress(
    orgRow: number,
    flowRow: number,
    ids: PersonIds,
  ): Promise<{ ticked: ReadonlyMap<number, number>; completedAt: number | null }> {
    const person = personOf(ids.userId, ids.anonymousId)
    const ticks = this.sql.ticks
      .all(orgRow, flowRow, person)
      .map(row => ({ itemId: row.item_id, at: row.at, ticked: row.ticked === 1 }))
    const completion = this.sql.completion.get(orgRow, flowRow, person)
    return {
      ticked: itemStates(ticks),
      completedAt: completion ? least(completion.reported_at, completion.checklist_at) : null,
    }
  }

  async presence(orgRow: number, now: number): Promise<Presence> {
    const row = this.sql.presence.get(orgRow)
    const seen = {} as { -readonly [Mark in keyof Presence['seen']]: Presence['seen'][Mark] }
    for (const mark of presenceMarks) {
      const here = this.board.seen(orgRow, mark)
      const first = (row?.[`${mark}_first`] ?? null) as number | null
      const last = (row?.[`${mark}_last`] ?? null) as number | null
      const firstAt = least(first, here?.firstAt ?? null)
      seen[mark] =
        firstAt === null ? null : { firstAt, lastAt: Math.max(last ?? 0, here?.lastAt ?? 0) }
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
      refusedOrigins: refusals.get(refusedOrigin) ?? 0,
      limitedMinutes: countsIn(refusals, buckets, limitReached),
    }
  }
}
