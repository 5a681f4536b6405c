import type { Database } from 'bun:sqlite'
import type { TimeRange } from '../../../core/time/time-range.ts'
import type { StoredEvent } from '../../shared/in-rows.ts'
import { pages } from '../database/pages.ts'
import {
  type BatchRow,
  batchColumns,
  type FactsRow,
  factsColumns,
  factsOf,
  storedText,
} from '../engine/event-codec/event-batches.ts'
import { decodeEvents, isOfFlow } from '../engine/event-codec/event-text.ts'
import type { Fact, LedgerFact } from '../projections/facts.ts'

/** Reads the ledger, always in the order of arrival. */

/**
 * Batches that a statement reads, 192 events of the usual sort. That is as many as are handed out at once,
 * so that a garbage collection meanwhile finds little that is still held, and ages none of it.
 */
const pageBatches = 3

/** A flow's events that occurred in a range; each page is a statement of its own. */
export function flowEvents(database: Database) {
  const statement = database.query<BatchRow, [number, number, number, number, number]>(
    `select ${batchColumns}
    from event_batch_flows cross join event_batches using (seq)
    where event_batch_flows.org_id = ? and flow_id = ? and seq > ? and last_at >= ? and first_at < ?
    order by seq limit ${pageBatches}`,
  )
  return function* (orgRow: number, flowRow: number, { startMs, endMs }: TimeRange) {
    const next = ({ seq }: { seq: number }) => statement.all(orgRow, flowRow, seq, startMs, endMs)
    const isAsked = ({ flowRef: of, occurredAt: at }: StoredEvent) =>
      of === flowRow && at >= startMs && at < endMs
    for (const page of pages(next, { seq: 0 }, pageBatches)) {
      for (const row of page) yield decodeEvents(storedText(row)).filter(isAsked)
    }
  }
}

/** What a flow's events after one row of the ledger and up to another mean for its projections. */
export function* flowFacts(
  database: Database,
  orgRow: number,
  flowRow: number,
  after: number,
  upTo = Number.MAX_SAFE_INTEGER,
): Generator<Fact[]> {
  const statement = database.query<FactsRow, [number, number, number, number]>(
    `select ${factsColumns}
    from event_batch_flows cross join event_batches using (seq)
    where event_batch_flows.org_id = ? and flow_id = ? and seq > ? and seq <= ?
    order by seq limit ${pageBatches}`,
  )
  const next = ({ seq }: { seq: number }) => statement.all(orgRow, flowRow, seq, upTo)
  for (const page of pages(next, { seq: after }, pageBatches)) {
    yield page
      .flatMap(row => factsOf(row, orgRow))
      .filter(isOfFlow)
      .filter(fact => fact.flowRow === flowRow)
  }
}

/** Batches that a statement reads if their events are not handed out. */
const pageOfAll = 64

/** What all of an organisation's batches say. */
export function* ledgerPages(
  database: Database,
  orgRow: number,
): Generator<readonly { seq: number; facts: readonly LedgerFact[] }[]> {
  const page = database.query<FactsRow, [number, number]>(
    `select ${factsColumns} from event_batches
    where seq > ? and org_id = ? order by seq limit ${pageOfAll}`,
  )
  for (const rows of pages(({ seq }) => page.all(seq, orgRow), { seq: 0 }, pageOfAll)) {
    yield rows.map(row => ({ seq: row.seq, facts: factsOf(row, orgRow) }))
  }
}
