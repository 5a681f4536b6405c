import type { Database } from 'bun:sqlite'
import type { EventLog, LoggedEvent } from '../../../modules/events/port.ts'
import { TimeSlices } from '../../../scheduling/cooperative.ts'
import type { InRows } from '../../shared/in-rows.ts'
import { tellerOver } from '../../sqlite/ledger/event-log.ts'
import type { Queries } from '../database/connection.ts'
import { inSlices, pages } from '../database/pages.ts'
import { cursorOf, type EventRow, eventColumns, eventOf, seqOf } from './event-rows.ts'

/** Events that a statement reads: planning it may take milliseconds if the table has many partitions. */
const pageRows = 2_048

/** Events that are handed out at once: processing them takes a millisecond or two. */
const sliceRows = 256

/**
 * The whole ledger of an organisation, in the order of arrival.
 *
 * @param queries of a pool that plans anew
 * @param copy the node's own, for the names of what events are about
 */
export function eventLogOver(queries: Queries, copy: Database): InRows<EventLog> {
  const teller = tellerOver(copy)

  /** @param upTo the last event to return: what arrives meanwhile is for the next call */
  async function* between(
    orgRow: number,
    after: number,
    upTo: number,
    most: number,
  ): AsyncGenerator<readonly LoggedEvent[]> {
    let left = most
    const next = ({ seq }: Pick<EventRow, 'seq'>) => {
      const asked = Math.min(left, pageRows)
      left -= asked
      return queries.all<EventRow>(
        `select ${eventColumns} from events
        where org_id = $1 and seq > $2 and seq <= $3 order by events.seq limit $4`,
        ...[orgRow, seq, upTo, asked],
      )
    }
    const told = teller(orgRow)
    const rows = pages(next, { seq: after }, pageRows)
    for await (const slice of inSlices(rows, sliceRows, new TimeSlices())) {
      yield slice.map(row => told(cursorOf(row), eventOf(row)))
    }
  }

  return {
    async after(orgRow, after, most) {
      const newest = await newestOf(queries, orgRow)
      const last = after === null ? 0 : seqOf(after)
      return last > newest ? null : between(orgRow, last, newest, most)
    },
  }
}

/** The number of an organisation's newest event, which may be deleted by now; 0 if it never had any. */
export async function newestOf(queries: Queries, orgRow: number): Promise<number> {
  const ledger = await queries.get<{ seq: number }>(
    'select seq from ledgers where org_id = $1',
    orgRow,
  )
  return ledger?.seq ?? 0
}
