import type { Database } from 'bun:sqlite'
import { TimeSlices } from '../../../scheduling/cooperative.ts'
import type { EventLog, LoggedEvent, NamedPart } from '../../interfaces/events.ts'
import type { InRows, StoredEvent } from '../../shared/in-rows.ts'
import { pages } from '../database/pages.ts'
import { type BatchRow, batchColumns, eventsOf, eventsPerBatch } from './event-batches.ts'

/** Rows of the ledger that a statement reads. */
const pageRows = 1

/** An event's own number, as `event-batches.ts` defines it, in base 36. */
export const cursorOf = (seq: number, place: number) => (seq * eventsPerBatch + place).toString(36)

function namedParts(database: Database) {
  const part = (table: 'steps' | 'items') =>
    database.query<NamedPart, [number, number]>(
      `select p.public_id as id, p.key from ${table} p join flows f on f.id = p.flow_id
      where p.id = ? and f.org_id = ?`,
    )
  return {
    flow: database.query<NamedPart, [number, number]>(
      'select public_id as id, key from flows where id = ? and org_id = ?',
    ),
    step: part('steps'),
    item: part('items'),
  }
}

/** Gives events the names of the flow, step and item that they are about. Each teller reads a name once. */
export function tellerOver(database: Database) {
  const sql = namedParts(database)
  return (orgRow: number) => {
    const named = (kind: 'flow' | 'step' | 'item') => {
      const known = new Map<number, NamedPart | null>()
      return (row: number | null): NamedPart | null => {
        if (row === null) return null
        const found = known.get(row)
        if (found !== undefined) return found
        const read = sql[kind].get(row, orgRow)
        known.set(row, read)
        return read
      }
    }
    const [flow, step, item] = [named('flow'), named('step'), named('item')]
    return (cursor: string, event: StoredEvent): LoggedEvent => {
      const { flowRef, stepRef, itemRef, ...rest } = event
      return { cursor, ...rest, flow: flow(flowRef), step: step(stepRef), item: item(itemRef) }
    }
  }
}

function statements(database: Database) {
  return {
    bounds: database.query<{ oldest: number; newest: number; deleted: number }, []>(
      `select
        coalesce((select min(seq) from event_batches), 0) as oldest,
        coalesce((select max(seq) from event_batches), 0) as newest,
        coalesce((select value from server_state where name = 'ledger_deleted'), 0) as deleted`,
    ),
    batches: database.query<BatchRow, [number, number, number]>(
      `select ${batchColumns} from event_batches
      where seq > ? and seq <= ? and org_id = ? order by seq limit ${pageRows}`,
    ),
  }
}

/** The whole ledger of an organisation, in the order of arrival. */
export class EventLogReader implements InRows<EventLog> {
  readonly teller: ReturnType<typeof tellerOver>
  private readonly sql: ReturnType<typeof statements>

  constructor(database: Database) {
    this.sql = statements(database)
    this.teller = tellerOver(database)
  }

  async after(orgRow: number, after: string | null, most: number) {
    const { oldest, newest, deleted } = this.sql.bounds.get()!
    const number = after === null ? -1 : Number.parseInt(after, 36)
    if (number >= (Math.max(newest, deleted) + 1) * eventsPerBatch) return null
    const start = Math.max(Math.floor(number / eventsPerBatch), oldest) - 1
    return this.pages(orgRow, { start, newest, number, most })
  }

  /** @param range.newest the last row to read: what arrives meanwhile is left for the next call */
  private async *pages(
    orgRow: number,
    range: { start: number; newest: number; number: number; most: number },
  ): AsyncGenerator<readonly LoggedEvent[]> {
    const { start, newest, number } = range
    const told = this.teller(orgRow)
    const slices = new TimeSlices()
    let left = range.most
    const next = ({ seq }: { seq: number }) => this.sql.batches.all(seq, newest, orgRow)
    for (const rows of pages(next, { seq: start }, pageRows)) {
      await slices.rest()
      const events = rows
        .flatMap(row => eventsOf(row).map((event, place) => ({ seq: row.seq, place, event })))
        .filter(({ seq, place }) => seq * eventsPerBatch + place > number)
        .slice(0, left)
      left -= events.length
      if (events.length > 0) {
        yield events.map(({ seq, place, event }) => told(cursorOf(seq, place), event))
      }
      if (left === 0) return
    }
  }
}
