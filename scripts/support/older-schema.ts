import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { openForWriting } from '../../src/storage/sqlite/database/database.ts'
import { migrate, schemaState } from '../../src/storage/sqlite/database/migrate.ts'
import initial from '../../src/storage/sqlite/migrations/0001-initial.sql' with { type: 'text' }

/** Makes a data directory whose database has an older schema, and nothing in it. */
export function writeOlder(dataDir: string, schema: number): void {
  mkdirSync(dataDir, { mode: 0o700 })
  const database = openForWriting(dataDir)
  database.run(initial)
  database.run(
    `create table migrations (
      id integer primary key, name text not null, sha256 text not null, applied_at integer not null
    ) strict`,
  )
  const hash = createHash('sha256').update(initial).digest('hex')
  database.run('insert into migrations values (1, ?, ?, 0)', ['initial', hash])
  database.close()
  if (schema > 1) migrateUpTo(dataDir, schema)
}

/** Brings a database up to a schema by failing in the step after it. */
export function migrateUpTo(dataDir: string, schema: number): void {
  const database = openForWriting(dataDir)
  const enough = new Error('far enough')
  try {
    migrate(database, Date.now(), ({ id }) => {
      if (id > schema) throw enough
    })
  } catch (error) {
    if (error !== enough) throw error
  }
  const { applied } = schemaState(database)
  database.close()
  if (applied !== schema) throw new Error(`It has schema ${applied}, not ${schema}`)
}
