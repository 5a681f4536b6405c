import type { Database } from 'bun:sqlite'
import { createHash } from 'node:crypto'
import initial from './migrations/0001-initial.sql' with { type: 'text' }
import oldKeyUsed from './migrations/0002-old-key-used.sql' with { type: 'text' }
import eventIds from './migrations/0003-event-ids.sql' with { type: 'text' }
import eventBatches from './migrations/0004-event-batches.sql' with { type: 'text' }
import { moveEventsIntoBatches } from './migrations/0004-event-batches.ts'
import rowIndexes from './migrations/0005-row-indexes.sql' with { type: 'text' }
import runBlocks from './migrations/0006-run-blocks.sql' with { type: 'text' }
import erasures from './migrations/0008-erasures.sql' with { type: 'text' }

interface Migration {
  id: number
  name: string
  sql: string
  /** What SQL alone cannot do well; runs after it, in the same transaction. */
  move?: (database: Database) => void
}

/** Every step of the schema, oldest first. A released one is never edited: its hash is checked. */
const migrations: readonly Migration[] = [
  { id: 1, name: 'initial', sql: initial },
  { id: 2, name: 'old-key-used', sql: oldKeyUsed },
  { id: 3, name: 'event-ids', sql: eventIds },
  { id: 4, name: 'event-batches', sql: eventBatches, move: moveEventsIntoBatches },
  { id: 5, name: 'row-indexes', sql: rowIndexes },
  { id: 6, name: 'run-blocks', sql: runBlocks },
  { id: 8, name: 'erasures', sql: erasures },
]

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** The database was made by another Cairn than this one can read. */
export class SchemaMismatch extends Error {
  override readonly name = 'SchemaMismatch'
}

/** How a database's schema stands to what this binary knows; changes nothing. */
export interface SchemaState {
  /** The newest step that was applied; 0 for a database without any. */
  applied: number
  known: number
  /** Applied steps that are not the ones this binary has under their numbers. */
  differing: readonly number[]
}

export function schemaState(database: Database): SchemaState {
  const isMade = database.query("select 1 from sqlite_schema where name = 'migrations'").get()
  const rows = isMade
    ? database
        .query<{ id: number; sha256: string }, []>('select id, sha256 from migrations order by id')
        .all()
    : []
  const hashes = new Map(migrations.map(({ id, sql }) => [id, sha256(sql)]))
  return {
    applied: rows.at(-1)?.id ?? 0,
    known: migrations.at(-1)!.id,
    differing: rows
      .filter(row => hashes.has(row.id) && hashes.get(row.id) !== row.sha256)
      .map(({ id }) => id),
  }
}

/** @throws SchemaMismatch when the database is newer than this binary, or an applied step differs */
function requireKnown({ applied, known, differing }: SchemaState): void {
  if (applied > known) {
    throw new SchemaMismatch(
      `The database has schema ${applied}, and this Cairn knows ${known}: run the newer binary`,
    )
  }
  const [id] = differing
  if (id === undefined) return
  throw new SchemaMismatch(
    `Migration ${id} (${migrations.find(step => step.id === id)?.name}) is not the one applied here`,
  )
}

/**
 * Brings the schema up to date, each step in a transaction of its own, forward only. Where nothing is
 * due, nothing is locked: a command that only reads does not wait for who writes.
 *
 * @throws SchemaMismatch when the database is newer than this binary, or an applied step differs
 */
export function migrate(database: Database, now: number): void {
  const state = schemaState(database)
  requireKnown(state)
  if (state.applied === state.known) return
  database.run(
    `create table if not exists migrations (
      id integer primary key, name text not null, sha256 text not null, applied_at integer not null
    ) strict`,
  )
  for (const { id, name, sql, move } of migrations) {
    const apply = database.transaction(() => {
      if (database.query('select 1 from migrations where id = ?').get(id)) return
      database.run(sql)
      move?.(database)
      database.run('insert into migrations values (?, ?, ?, ?)', [id, name, sha256(sql), now])
    })
    // Immediate: two processes that start at once must not both find the step missing.
    apply.immediate()
  }
  requireKnown(schemaState(database))
}
