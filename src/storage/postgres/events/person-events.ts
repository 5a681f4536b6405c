import type { Database } from 'bun:sqlite'
import { idsOf } from '../../../core/event/event.ts'
import type { PeopleStore } from '../../../modules/people/port.ts'
import type { InRows } from '../../shared/in-rows.ts'
import { tellerOver } from '../../sqlite/ledger/event-log.ts'
import type { Queries } from '../database/connection.ts'
import { newestOf } from './event-log.ts'
import { cursorOf, type EventRow, eventColumns, eventOf, seqOf } from './event-rows.ts'

/** How many events one call goes through, which takes some hundredths of a second. */
const mostRead = 65_536

/**
 * Events of a person, backwards from the end of the ledger, a part of it per call.
 *
 * @param queries of a pool that plans anew
 * @param copy the node's own, for the names of what events are about
 * @param read how many events one call goes through
 */
export function personEventsOver(
  queries: Queries,
  copy: Database,
  read = mostRead,
): InRows<PeopleStore['events']> {
  const teller = tellerOver(copy)
  return async ({ orgRef: orgRow, person }, before, most) => {
    const told = teller(orgRow)
    const { oldest } = (await queries.get<{ oldest: number | null }>(
      'select min(seq) as oldest from events where org_id = $1',
      orgRow,
    ))!
    if (oldest === null) return { events: [], next: null }
    const newest = await newestOf(queries, orgRow)
    const end = before === null ? newest + 1 : Math.min(seqOf(before), newest + 1)
    const from = Math.max(end - read, oldest)
    const { userId, anonymousId } = idsOf(person)
    // A browser's events include those that a user sent from it.
    const isTheirs = userId === null ? 'anonymous_id = $4' : 'user_id = $4'
    const rows = await queries.all<EventRow>(
      `select ${eventColumns} from events
      where org_id = $1 and seq < $2 and seq >= $3 and ${isTheirs} order by events.seq desc limit $5`,
      ...[orgRow, end, from, userId ?? anonymousId, most],
    )
    const events = rows.map(row => told(cursorOf(row), eventOf(row)))
    if (rows.length === most) return { events, next: events.at(-1)!.cursor }
    return { events, next: from > oldest ? cursorOf({ seq: from }) : null }
  }
}
