import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { openForWriting } from '../../src/storage/sqlite/database/database.ts'
import { migrate, schemaState } from '../../src/storage/sqlite/database/migrate.ts'

/** Databases that past releases wrote, by their newest schema; `test/support/record-schema.ts` makes them. */

const folder = join(import.meta.dir, '../../test/fixtures/schemas')
const fileOf = (schema: number) => join(folder, `schema-${schema}.db.gz`)

export const recordedSchemas = readdirSync(folder)
  .map(name => Number(/^schema-(\d+)\.db\.gz$/.exec(name)?.[1]))
  .sort((a, b) => a - b)

/**
 * Makes a data directory from what a release wrote. A schema that was never the newest of any commit is what
 * is left by a migration that ended within the step after it.
 */
export function writeReleased(dataDir: string, schema: number): void {
  mkdirSync(dataDir, { mode: 0o700 })
  const recorded = recordedSchemas.findLast(known => known <= schema)!
  const bytes = gunzipSync(readFileSync(fileOf(recorded)))
  writeFileSync(join(dataDir, 'cairn.db'), bytes, { mode: 0o600 })
  if (recorded !== schema) migrateUpTo(dataDir, schema)
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
