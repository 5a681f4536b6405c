import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { dayMs } from '../../../src/core/time/durations.ts'
import type { Workplace } from '../../support/binary.ts'

/**
 * Makes all that is stored a day old, less what is still to come: batch after batch, it becomes due for
 * a retention of one day while the server runs. The server must be stopped.
 *
 * @param withinMs from now on, until the last batch is due
 */
export function age(place: Workplace, withinMs: number): void {
  using database = new Database(join(place.folder, 'cairn-data', 'cairn.db'))
  database.run(
    `update event_batches set received_at = ?1 - ${dayMs} + cast(?2 * rank as integer)
    from (select seq as of, cume_dist() over (order by seq) as rank from event_batches)
    where seq = of`,
    [Date.now(), withinMs],
  )
}
