import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/settings.ts'
import { hasDatabase } from '../storage/sqlite/database/database.ts'

/** Which storage the settings name: the data directory's own, or a PostgreSQL that nodes share. */
export type StoragePlace = Pick<Config, 'data' | 'databaseUrl'>

const copyDirOf = (dataDir: string) => join(dataDir, 'copy')

/** Where the SQLite files are: in the data directory or, for a node, in its copy. */
export const databaseDirOf = ({ data, databaseUrl }: StoragePlace): string =>
  databaseUrl === null ? data : copyDirOf(data)

/** Empties the directory of a node's copy, which is filled again at each start. */
export function emptyCopyDir(place: StoragePlace): string {
  const directory = databaseDirOf(place)
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  return directory
}

/** Whether a data directory is a node's, which has the management data only as a copy. */
export const isOfNode = (dataDir: string): boolean =>
  !hasDatabase(dataDir) && hasDatabase(copyDirOf(dataDir))

/**
 * A data directory holds, or held, a storage other than the one that the settings name; the message says what
 * to do.
 */
export class WrongStorage extends Error {
  override readonly name = 'WrongStorage'
}

/**
 * To be called if the settings name no database: one made here would stand beside the shared one, unnoticed.
 *
 * @throws WrongStorage
 */
export function requireNotOfNode(dataDir: string): void {
  if (!isOfNode(dataDir)) return
  throw new WrongStorage(
    `${dataDir} is the directory of a node, whose data is in a database: set CAIRN_DATABASE_URL to that, or choose another directory with --data`,
  )
}

/** The directory has a database of its own, and nothing of it is in the one that the settings name. */
export const notMoved = (dataDir: string, database: string): string =>
  `${dataDir} holds cairn.db, whose organisations are not in the database at ${database}: run "cairn move", which takes them there, or choose another directory with --data`

/** The database was changed in its old place after it was moved. */
export const changedSinceMoved = (dataDir: string, database: string): string =>
  `cairn.db in ${dataDir} was opened again after it was moved into the database at ${database}: what was changed in it since is not there; keep it somewhere else`
