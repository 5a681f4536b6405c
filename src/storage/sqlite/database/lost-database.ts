import { existsSync, statSync } from 'node:fs'
import { databasesAside } from '../backup/replace-database.ts'
import { erasuresFile } from '../erasure/erasure-list.ts'
import { copiesIn } from './copies.ts'
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
  const [left] = [...databasesAside(dataDir), ...copiesIn(dataDir).map(({ file }) => file)]
  if (left !== undefined) return left
  const erasures = erasuresFile(dataDir)
  return existsSync(erasures) ? erasures : null
}

/** What to do about it. */
export const lostAdvice =
  'put it back, with its log as it is, or restore a backup ("cairn restore FILE")'

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
    `cairn.db is gone from ${dataDir}, which has held one (there is ${trace}): ${lostAdvice}; to begin anew, choose another directory with --data`,
  )
}
