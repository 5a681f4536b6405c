import type { Database } from 'bun:sqlite'
import { TimeSlices } from '../../../scheduling/cooperative.ts'
import type { EventLog, LoggedEvent } from '../../interfaces/events.ts'
import type { InRows, StoredEvent } from '../../shared/in-rows.ts'
import { pages } from '../database/pages.ts'
import { type BatchRow, batchColumns, eventsOf, eventsPerBatch } from './event-batches.ts'

/** Rows of the ledger that a statement reads. */
const pageRows = 1

/** An event's own number, as `event-batches.ts` defines it, in base 36. */
export const cursorOf = (seq: number, place: number) => (seq * eventsPerBatch + place).toString(36)

interface PartName {
  id: string
  key: string
}

function partStatements(database: Database) {
  const part = (table: 'steps' | 'items') =>
    database.query<PartName, [number, number]>(
      `select p.public_id as id, p.key from ${table} p join flows f on f.id = p.flow_id
      where p.id = ? and f.org_id = ?`,
    )
  return {
    flow: database.query<PartName, [number, number]>(
      'select public_id as id, key from flows where id = ? and org_id = ?',
    ),
    step: part('steps'),
    item: part('items'),
  }
}

/** Looks up the IDs and keys of the parts of flows that an organisation's events name, each only once. */
export function partNamesOver(database: Database) {
  const sql = partStatements(database)
  return (orgRow: number) => {
    const lookUp = (kind: 'flow' | 'step' | 'item') => {
      const names = new Map<number, PartName | null>()
      return (row: number | null): PartName | null => {
        if (row === null) return null
        const found = names.get(row)
        if (found !== undefined) return found
        const read = sql[kind].get(row, orgRow)
        names.set(row, read)
        return read
      }
    }
    const [flows, steps, items] = [lookUp('flow'), lookUp('step'), lookUp('item')]
    return ({ flowRef, stepRef, itemRef }: StoredEvent) => {
      const [flow, step, item] = [flows(flowRef), steps(stepRef), items(itemRef)]
      return {
        flowId: flow?.id ?? null,
        flowKey: flow?.key ?? null,
        stepId: step?.id ?? null,
        stepKey: step?.key ?? null,
        itemId: item?.id ?? null,
        itemKey: item?.key ?? null,
      }
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
  private readonly partNames: ReturnType<typeof partNamesOver>
  private readonly sql: ReturnType<typeof statements>

  constructor(database: Database) {
    this.sql = statements(database)
    this.partNames = partNamesOver(database)
  }

  /** Makes events as callers get them. To be used for one request, because it remembers names. */
  reader(orgRow: number): (cursor: string, event: StoredEvent) => LoggedEvent {
    const namesOf = this.partNames(orgRow)
    return (cursor, event) => {
      const { flowRef, stepRef, itemRef, answer, ...fields } = event
      const properties = event.properties === null ? null : JSON.parse(event.properties)
      const traits = event.traits === null ? null : JSON.parse(event.traits)
      return { cursor, ...fields, ...namesOf(event), properties, traits }
    }
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
    const logged = this.reader(orgRow)
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
        yield events.map(({ seq, place, event }) => logged(cursorOf(seq, place), event))
      }
      if (left === 0) return
    }
  }
}
