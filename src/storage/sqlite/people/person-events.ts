import type { Database } from 'bun:sqlite'
import { namesOf } from '../../../core/event/event.ts'
import type { NamedPerson, PersonsEvents } from '../../../modules/people/port.ts'
import { TimeSlices } from '../../../scheduling/cooperative.ts'
import type { InRows } from '../../shared/in-rows.ts'
import {
  type BatchRow,
  batchColumns,
  eventsPerBatch,
  storedText,
} from '../engine/event-codec/event-batches.ts'
import { decodeEvents } from '../engine/event-codec/event-text.ts'
import { cursorOf, type EventLogReader } from '../ledger/event-log.ts'

/** Rows of the ledger, of any organisation, that one statement covers: a millisecond's work or less. */
const rowsLookedAt = 256
/** Rows that one call goes through, and events that it reads: a few tenths of a second at most. */
const mostRows = 65_536
const mostRead = 65_536

/** Events of a person, backwards from the end of the ledger; each call covers a part of it. */
export function personEventsOver(database: Database, log: EventLogReader) {
  const ends = database.query<{ first: number; last: number }, []>(
    `select coalesce((select min(seq) from event_batches), 0) as first,
      coalesce((select max(seq) from event_batches), -1) as last`,
  )
  const batches = database.query<BatchRow, [number, number, number]>(
    `select ${batchColumns} from event_batches
    where seq <= ? and seq > ? and org_id = ? order by seq desc`,
  )
  return async (
    { orgRef: orgRow, person }: InRows<NamedPerson>,
    before: string | null,
    most: number,
  ): Promise<InRows<PersonsEvents>> => {
    const told = log.teller(orgRow)
    const { first, last } = ends.get()!
    const end = before === null ? Number.POSITIVE_INFINITY : Number.parseInt(before, 36)
    const slices = new TimeSlices()
    const events: ReturnType<typeof told>[] = []
    let seq = Math.min(last, Math.floor(end / eventsPerBatch))
    const stop = Math.max(first - 1, seq - mostRows)
    for (let read = 0; seq > stop && read < mostRead; ) {
      await slices.rest()
      const from = Math.max(seq - rowsLookedAt, stop)
      for (const row of batches.iterate(seq, from, orgRow)) {
        const ofRow = decodeEvents(storedText(row))
        read += ofRow.length
        for (let place = ofRow.length - 1; place >= 0; place--) {
          const event = ofRow[place]!
          if (row.seq * eventsPerBatch + place >= end) continue
          if (!namesOf(event).includes(person)) continue
          const cursor = cursorOf(row.seq, place)
          events.push(told(cursor, event))
          if (events.length === most) return { events, next: cursor }
        }
      }
      seq = from
    }
    const isWhole = seq < first
    return { events, next: isWhole ? null : cursorOf(seq + 1, 0) }
  }
}
