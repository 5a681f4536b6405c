import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/settings.ts'
import { hasDatabase } from '../storage/sqlite/database/database.ts'
import { makeInnerDirectory, replaceSynced } from '../storage/sqlite/database/synced-files.ts'

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
  makeInnerDirectory(directory)
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

const movedFile = (dataDir: string) => join(dataDir, 'moved-to')

/** Notes in a data directory where everything in it was moved to, so that nothing is written in it any more. */
export const noteMoved = (dataDir: string, database: string): void =>
  replaceSynced(movedFile(dataDir), `${database}\n`)

/** Why the data in a directory is not to be changed, and what to do; null if it is in use. */
export function movedAway(dataDir: string): { what: string; advice: string } | null {
  const file = movedFile(dataDir)
  if (!hasDatabase(dataDir) || !existsSync(file)) return null
  return {
    what: `the data in ${dataDir} was moved into the database at ${readFileSync(file, 'utf8').trim()}`,
    advice: `set CAIRN_DATABASE_URL to that database; to serve from the directory as it was before, delete ${file}`,
  }
}

/**
 * To be called if the settings name no database: what is stored here would stand beside the shared one, unnoticed.
 *
 * @throws WrongStorage
 */
export function requireOwnData(dataDir: string): void {
  if (isOfNode(dataDir)) {
    throw new WrongStorage(
      `${dataDir} is the directory of a node, whose data is in a database: set CAIRN_DATABASE_URL to that, or choose another directory with --data`,
    )
  }
  const moved = movedAway(dataDir)
  if (moved !== null) throw new WrongStorage(`${moved.what}: ${moved.advice}`)
}

/** The directory has a database of its own, and nothing of it is in the one that the settings name. */
export const notMoved = (dataDir: string, database: string): string =>
  `${dataDir} holds cairn.db, whose organisations are not in the database at ${database}: run "cairn move", which takes them there, or choose another directory with --data`

/** The database was changed in its old place after it was moved. */
export const changedSinceMoved = (dataDir: string, database: string): string =>
  `cairn.db in ${dataDir} was opened again after it was moved into the database at ${database}: what was changed in it since is not there; keep it somewhere else`
