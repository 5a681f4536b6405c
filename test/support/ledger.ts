import type { Database } from 'bun:sqlite'
import type { NewEvent } from '../../src/storage/shared/in-rows.ts'
import { EventBatches, OpenBatch } from '../../src/storage/sqlite/ledger/event-batches.ts'
import { factOf } from '../../src/storage/sqlite/projections/facts.ts'

export { storedEvents } from '../../scripts/support/stored.ts'

/**
 * Makes the database refuse events with a text in their ids, and batches with a text in them, as a corrupt row or a
 * broken rule would. Batches of more than a few events are compressed, so nothing but ids is found in those.
 */
export function poison(database: Database, text: string): void {
  const refusing = (name: string, table: string, condition: string) =>
    database.run(
      `create trigger ${name} before insert on ${table} when ${condition}
      begin select raise(abort, 'poisoned'); end`,
    )
  refusing('poison', 'event_ids', `instr(new.id, '${text}')`)
  refusing('poison_batch', 'event_batches', `instr(new.body, cast('${text}' as blob))`)
}

/** Undoes `poison`. */
export function cure(database: Database): void {
  for (const name of ['poison', 'poison_batch']) database.run(`drop trigger ${name}`)
}

/** Stores events behind a running storage's back, as if they had arrived, but nothing that follows from them. */
export function storeBehind(database: Database, orgRow: number, events: readonly NewEvent[]): void {
  const { seq } = database
    .query<{ seq: number }, []>('select coalesce(max(seq), 0) + 1 as seq from event_batches')
    .get()!
  const receivedAt = Math.max(...events.map(({ occurredAt }) => occurredAt))
  const batch = new OpenBatch(seq, orgRow, 'events')
  const facts = events.map(event => factOf(orgRow, event, 'events'))
  batch.add(events, receivedAt, facts)
  new EventBatches(database).write(batch)
  // Marks them as projected, because nobody has them in memory to project them.
  database.run("update server_state set value = ? where name = 'projected'", [seq])
}
