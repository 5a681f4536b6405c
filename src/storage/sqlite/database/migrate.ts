import { Database } from 'bun:sqlite'
import schema from '../schema.sql' with { type: 'text' }

/**
 * What makes the schema, oldest first. The first step makes every table. A release that changes a table adds
 * a step, as SQL, which runs once over the data of older releases; a released step is never edited.
 */
const steps: readonly string[] = [schema]

/** The schema that this release works with: the number of its steps. */
export const schemaKnown = steps.length

/** The database was made by a Cairn whose databases this one cannot read. */
export class SchemaMismatch extends Error {
  override readonly name = 'SchemaMismatch'
}

/** The schema of a database: how many steps have been applied to it, or 0 if it is empty. */
export const schemaOf = (database: Database): number =>
  database.query<{ user_version: number }, []>('pragma user_version').get()!.user_version

const isEmpty = (database: Database): boolean =>
  database.query('select 1 from sqlite_schema limit 1').get() === null

/** @throws SchemaMismatch when the database is newer than this binary, or of a time before the first release */
export function requireKnownSchema(database: Database): void {
  const applied = schemaOf(database)
  if (applied > schemaKnown) {
    throw new SchemaMismatch(
      `the database has schema ${applied}, and this cairn works with ${schemaKnown}: run the newer release`,
    )
  }
  if (applied > 0 || isEmpty(database)) return
  throw new SchemaMismatch(
    'the database was made by an unreleased Cairn: start with an empty data directory',
  )
}

/** An empty database in memory with a schema. */
export function emptyWith(applied: number): Database {
  const database = new Database(':memory:', { strict: true })
  for (const sql of steps.slice(0, applied)) database.run(sql)
  return database
}

/**
 * Brings the schema up to date: all steps in one transaction, so that a process that ends in the middle leaves
 * the database as it was. If nothing is due, nothing is locked, so that a command that only reads does not
 * wait for writers.
 *
 * @param onStep is called within the transaction, after each step
 * @throws SchemaMismatch
 */
export function migrate(database: Database, onStep: () => void = () => {}): void {
  requireKnownSchema(database)
  if (schemaOf(database) === schemaKnown) return
  // Immediate: two processes that start at once must not both find a step missing.
  database
    .transaction(() => {
      for (const sql of steps.slice(schemaOf(database))) {
        database.run(sql)
        onStep()
      }
      database.run(`pragma user_version = ${schemaKnown}`)
    })
    .immediate()
}
