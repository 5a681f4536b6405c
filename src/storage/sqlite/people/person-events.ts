import type { Database } from 'bun:sqlite'
import { namesOf } from '../../../core/event/event.ts'
import { TimeSlices } from '../../../scheduling/cooperative.ts'
import type { NamedPerson, PersonsEvents } from '../../interfaces/people.ts'
import type { InRows } from '../../shared/in-rows.ts'
import { type BatchRow, batchColumns, eventsOf, eventsPerBatch } from '../ledger/event-batches.ts'
import { cursorOf, type EventLogReader } from '../ledger/event-log.ts'

/** Rows of the ledger that a statement reads. */
const pageRows = 4
/** Events that one call goes through: a few tenths of a second at most. */
const maxRead = 65_536

/** Events of a person, backwards from the end of the ledger; each call covers a part of it. */
export function personEventsOver(database: Database, log: EventLogReader) {
  const page = database.query<BatchRow, [number, number]>(
    `select ${batchColumns} from event_batches
    where org_id = ? and seq <= ? order by seq desc limit ${pageRows}`,
  )
  return async (
    { orgRef: orgRow, person }: InRows<NamedPerson>,
    before: string | null,
    most: number,
  ): Promise<InRows<PersonsEvents>> => {
    const logged = log.reader(orgRow)
    const end = before === null ? Number.MAX_SAFE_INTEGER : Number.parseInt(before, 36)
    const slices = new TimeSlices()
    const events: ReturnType<typeof logged>[] = []
    let seq = Math.floor(end / eventsPerBatch)
    for (let read = 0; read < maxRead; ) {
      await slices.rest()
      const rows = page.all(orgRow, seq)
      for (const row of rows) {
        const ofRow = eventsOf(row)
        read += ofRow.length
        for (let place = ofRow.length - 1; place >= 0; place--) {
          const event = ofRow[place]!
          if (row.seq * eventsPerBatch + place >= end) continue
          if (!namesOf(event).includes(person)) continue
          const cursor = cursorOf(row.seq, place)
          events.push(logged(cursor, event))
          if (events.length === most) return { events, next: cursor }
        }
      }
      if (rows.length < pageRows) return { events, next: null }
      seq = rows.at(-1)!.seq - 1
    }
    return { events, next: cursorOf(seq + 1, 0) }
  }
}
