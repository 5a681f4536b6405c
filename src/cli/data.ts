import { existsSync, statSync } from 'node:fs'
import { holderOf, isHeld } from '../runtime/lock.ts'
import { requireOwnData, type StoragePlace } from '../runtime/place.ts'
import { databasePlace } from '../storage/log/postgres/inspection.ts'
import { hasDatabase, openForWriting } from '../storage/sqlite/database/database.ts'
import { requireNoLostDatabase } from '../storage/sqlite/database/lost-database.ts'
import {
  migrate,
  requireKnownSchema,
  schemaKnown,
  schemaOf,
} from '../storage/sqlite/database/migrate.ts'
import { makeSyncedDirectory } from '../storage/sqlite/database/synced-files.ts'
import { CommandFailure } from './failure.ts'

/** @throws CommandFailure, WrongStorage, DatabaseLost if a directory holds no data of Cairn */
export function requireData(dataDir: string): void {
  // A running server answers for its database.
  if (hasDatabase(dataDir) || (isHeld(dataDir) && holderOf(dataDir)?.database)) return
  requireOwnData(dataDir)
  requireNoLostDatabase(dataDir)
  const demo = existsSync('cairn-demo-data') ? ' (--data cairn-demo-data is the demo)' : ''
  throw new CommandFailure(
    `no Cairn data in ${dataDir}: set --data or CAIRN_DATA to the data directory${demo}, or run "cairn org create NAME" for a new one`,
  )
}

/**
 * The directory for a command that works only on its files.
 *
 * @param inItsPlace what to use instead if the settings name a database
 * @throws CommandFailure
 */
export function directoryOf({ data, databaseUrl }: StoragePlace, inItsPlace: string): string {
  if (databaseUrl === null) return data
  throw new CommandFailure(
    `this works on a data directory, but CAIRN_DATABASE_URL names the database at ${databasePlace(databaseUrl)}: ${inItsPlace}`,
    { code: 'unsupported_by_database' },
  )
}

/**
 * Makes the tables of a new database, for a command that has the directory for itself. A database with data
 * of an older release is changed only by the start of a server.
 */
export function requireUsableData(dataDir: string): void {
  using database = openForWriting(dataDir)
  requireKnownSchema(database)
  const schema = schemaOf(database)
  if (schema === 0) migrate(database)
  else if (schema < schemaKnown) {
    throw new CommandFailure(
      `the database in ${dataDir} has schema ${schema}, and this cairn works with ${schemaKnown}: make a backup with the older release, then start the server to upgrade the database`,
    )
  }
}

/** A running server of an older release must not find its tables changed under it. */
export function requireNoServer(dataDir: string): void {
  if (!isHeld(dataDir)) return
  const holder = holderOf(dataDir)
  throw new CommandFailure(
    `the server on ${dataDir} is older (${holder?.version ?? 'another release'}) than this command: restart it with this release, or use the older cairn`,
  )
}

/** Makes the data directory if there is none. Its database is made by the first operation. */
export function makeData({ data: dataDir, databaseUrl }: StoragePlace): void {
  makeDirectory(dataDir)
  if (databaseUrl !== null) return
  if (!isHeld(dataDir)) requireOwnData(dataDir)
  requireNoLostDatabase(dataDir)
}

/** Makes the data directory, for its owner alone; an existing one is left as it is. */
export function makeDirectory(dataDir: string): void {
  try {
    if (!existsSync(dataDir)) makeSyncedDirectory(dataDir)
    if (statSync(dataDir).isDirectory()) return
  } catch (error) {
    const { code } = error as { code?: string }
    throw new CommandFailure(
      `the data directory ${dataDir} cannot be made (${code}): choose another with --data`,
    )
  }
  throw new CommandFailure(`${dataDir} is not a directory: choose another with --data`)
}
