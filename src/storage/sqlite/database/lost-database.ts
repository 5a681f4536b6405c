import { existsSync, statSync } from 'node:fs'
import { lastBackupFile } from '../backup/last-backup.ts'
import { databasesAside } from '../backup/replace-database.ts'
import { erasuresFile } from '../erasure/erasure-list.ts'
import { databaseFile, hasDatabase } from './database.ts'

/** A data directory that has held a database holds none now; the message says what to do. */
export class DatabaseLost extends Error {
  override readonly name = 'DatabaseLost'
}

/** What a removed or moved database has left behind; null if there was none. */
export function traceOfDatabase(dataDir: string): string | null {
  if (hasDatabase(dataDir) || !existsSync(dataDir)) return null
  const log = `${databaseFile(dataDir)}-wal`
  if (statSync(log, { throwIfNoEntry: false })?.size) return log
  const [left] = databasesAside(dataDir)
  if (left !== undefined) return left
  return [erasuresFile(dataDir), lastBackupFile(dataDir)].find(file => existsSync(file)) ?? null
}

/** What has happened to the database, by what it has left behind. */
export function lossOf(dataDir: string, trace: string): string {
  const which = `${dataDir}, which has held a database (there is ${trace})`
  return existsSync(databaseFile(dataDir))
    ? `cairn.db is empty in ${which}`
    : `cairn.db is gone from ${which}`
}

/** What to do about it. */
export const lostAdvice =
  'put it back together with its log, or restore a backup ("cairn restore FILE")'

/**
 * To be called before a database is created. Otherwise SQLite would delete the log of the lost one, and the
 * new one would refuse every key, so that callers would give up what they would have sent again.
 *
 * @throws DatabaseLost
 */
export function requireNoLostDatabase(dataDir: string): void {
  const trace = traceOfDatabase(dataDir)
  if (trace === null) return
  throw new DatabaseLost(
    `${lossOf(dataDir, trace)}: ${lostAdvice}; to begin anew, choose another directory with --data`,
  )
}
