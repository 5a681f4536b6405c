import type { Database } from 'bun:sqlite'
import type { TimeRange } from '../../../core/time/time-range.ts'
import type { StoredEvent } from '../../shared/in-rows.ts'
import { pages } from '../database/pages.ts'
import { type Fact, isOfFlow, type LedgerFact } from '../projections/facts.ts'
import { type BatchRow, batchColumns, eventsOf, factsOf } from './event-batches.ts'

/** Reads the ledger, always in the order of arrival. */

/**
 * Batches that a statement reads. Their events are handed out at once, so that a garbage collection meanwhile
 * finds little that is still held, and ages none of it.
 */
const pageBatches = 1

/** Which of a flow's rows are read. */
interface Rows {
  /** Only rows after this one. */
  after?: number
  /** Only rows up to this one. */
  upTo?: number
  /** When the events occurred; what is read may include others. */
  range?: Span
}

type Span = Pick<TimeRange, 'startMs' | 'endMs'>

const always: Span = { startMs: Number.MIN_SAFE_INTEGER, endMs: Number.MAX_SAFE_INTEGER }

/** Rows of the ledger, of any organisation, that a statement looks at for events of a flow: a few milliseconds at most. */
const rowsLookedAt = 16_384

/** Rows that may hold events of a flow, a page at a time, in order. */
export function* flowRows<Row extends { seq: number }>(
  database: Database,
  columns: string,
  orgRow: number,
  flowRow: number,
  { after = 0, upTo = Number.MAX_SAFE_INTEGER, range: { startMs, endMs } = always }: Rows,
): Generator<readonly Row[]> {
  const page = database.query<Row, [number, number, number, string, number, number]>(
    `select ${columns} from event_batches
    where org_id = ? and seq > ? and seq <= ? and instr(flows, ?) and last_at >= ? and first_at < ?
    order by seq limit ${pageBatches}`,
  )
  const { first, last } = database
    .query<{ first: number; last: number }, []>(
      'select coalesce(min(seq), 0) as first, coalesce(max(seq), 0) as last from event_batches',
    )
    .get()!
  const end = Math.min(upTo, last)
  for (let seq = Math.max(after, first - 1); seq < end; ) {
    const to = Math.min(seq + rowsLookedAt, end)
    const rows = page.all(orgRow, seq, to, `,${flowRow},`, startMs, endMs)
    if (rows.length > 0) yield rows
    seq = rows.length < pageBatches ? to : rows.at(-1)!.seq
  }
}

/** A flow's events that occurred in a range. */
export function* flowEvents(
  database: Database,
  orgRow: number,
  flowRow: number,
  range: Span,
): Generator<StoredEvent[]> {
  const isRequested = ({ flowRef: of, occurredAt: at }: StoredEvent) =>
    of === flowRow && at >= range.startMs && at < range.endMs
  for (const page of flowRows<BatchRow>(database, batchColumns, orgRow, flowRow, { range })) {
    for (const row of page) yield eventsOf(row).filter(isRequested)
  }
}

/** What a flow's events after one row of the ledger and up to another mean for its projections. */
export function* flowFacts(
  database: Database,
  orgRow: number,
  flowRow: number,
  after: number,
  upTo?: number,
): Generator<Fact[]> {
  const rows = { after, ...(upTo !== undefined && { upTo }) }
  for (const page of flowRows<BatchRow>(database, batchColumns, orgRow, flowRow, rows)) {
    yield page
      .flatMap(row => factsOf(row, orgRow))
      .filter(isOfFlow)
      .filter(fact => fact.flowRow === flowRow)
  }
}

/** Batches that a statement reads if their events are not handed out. */
const pageOfAll = 16

/** What all of an organisation's batches after a row say. */
export function* ledgerPages(
  database: Database,
  orgRow: number,
  after = 0,
): Generator<readonly { seq: number; facts: readonly LedgerFact[] }[]> {
  const page = database.query<BatchRow, [number, number]>(
    `select ${batchColumns} from event_batches
    where seq > ? and org_id = ? order by seq limit ${pageOfAll}`,
  )
  for (const rows of pages(({ seq }) => page.all(seq, orgRow), { seq: after }, pageOfAll)) {
    yield rows.map(row => ({ seq: row.seq, facts: factsOf(row, orgRow) }))
  }
}
