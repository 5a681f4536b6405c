import type { Database } from 'bun:sqlite'
import { createHash } from 'node:crypto'
import initial from './migrations/0001-initial.sql' with { type: 'text' }
import eventIds from './migrations/0002-event-ids.sql' with { type: 'text' }

/** Every step of the schema, oldest first. A released one is never edited: its hash is checked. */
const migrations = [
  { id: 1, name: 'initial', sql: initial },
  { id: 2, name: 'event-ids', sql: eventIds },
]

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** The database was made by another Cairn than this one can read. */
export class SchemaMismatch extends Error {
  override readonly name = 'SchemaMismatch'
}

/**
 * Brings the schema up to date, each step in a transaction of its own, forward only.
 *
 * @throws SchemaMismatch when the database is newer than this binary, or an applied step differs
 */
export function migrate(database: Database, now: number): void {
  database.run(
    `create table if not exists migrations (
      id integer primary key, name text not null, sha256 text not null, applied_at integer not null
    ) strict`,
  )
  for (const { id, name, sql } of migrations) {
    const apply = database.transaction(() => {
      const applied = database
        .query<{ sha256: string }, [number]>('select sha256 from migrations where id = ?')
        .get(id)
      if (applied?.sha256 === sha256(sql)) return
      if (applied) throw new SchemaMismatch(`Migration ${id} (${name}) is not the one applied here`)
      database.run(sql)
      database.run('insert into migrations values (?, ?, ?, ?)', [id, name, sha256(sql), now])
    })
    // Immediate: two processes that start at once must not both find the step missing.
    apply.immediate()
  }
  const newest = database
    .query<{ id: number }, []>('select max(id) as id from migrations')
    .get()?.id
  if (newest && newest > migrations.length) {
    throw new SchemaMismatch(
      `The database has schema ${newest}, and this Cairn knows ${migrations.length}: run the newer binary`,
    )
  }
}
