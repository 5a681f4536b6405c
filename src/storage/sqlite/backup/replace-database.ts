import { Database } from 'bun:sqlite'
import { copyFileSync, existsSync, linkSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { databaseFile } from '../database/database.ts'
import { isBusy } from '../database/file-lock.ts'
import { syncDirectory } from '../database/synced-files.ts'
import { RestoreRejected } from './check-backup.ts'

/**
 * Replaced databases stay in the data directory as `cairn.db.before-<time>`, and can be restored like a backup: only
 * the operator removes anything.
 */
const nameOfAside = /^cairn\.db\.before-[0-9TZ.-]+$/

const asideName = (now: number) =>
  `cairn.db.before-${new Date(now).toISOString().replaceAll(':', '-')}`

/** Databases that were replaced, the newest first. */
export function databasesAside(dataDir: string): string[] {
  return readdirSync(dataDir)
    .filter(name => nameOfAside.test(name))
    .sort()
    .reverse()
    .map(name => join(dataDir, name))
}

/**
 * Puts a whole database, a file of the data directory, in the place of the current one, and keeps that one
 * aside. At every moment, the one or the other is there, whole.
 *
 * @param now Unix milliseconds
 * @returns where the replaced one is; null if there was none
 * @throws RestoreRejected if another program has the database open
 */
export async function replaceDatabase(
  dataDir: string,
  whole: string,
  now: number,
): Promise<string | null> {
  const current = databaseFile(dataDir)
  const aside = join(dataDir, asideName(now))
  if (!existsSync(current)) {
    removeLog(current)
    renameSync(whole, current)
    syncDirectory(dataDir)
    return null
  }
  const release = makeOneFile(current)
  try {
    linkOrCopy(current, aside)
    // A damaged database may have kept its log, without which it would be incomplete.
    if (existsSync(`${current}-wal`)) linkOrCopy(`${current}-wal`, `${aside}-wal`)
    syncDirectory(dataDir)
    removeLog(current)
    renameSync(whole, current)
    syncDirectory(dataDir)
  } finally {
    release()
  }
  return aside
}

/**
 * Has SQLite write a database's log back, so that the database is one file, which a single rename replaces.
 * Keeps all others out of it until it is released. A damaged one is left as it is.
 */
function makeOneFile(file: string): () => void {
  const database = new Database(file, { readwrite: true, strict: true })
  try {
    database.run('pragma busy_timeout = 250')
    database.run('pragma synchronous = full')
    database.run('pragma locking_mode = exclusive')
    database.run('pragma journal_mode = delete')
    database.run('begin exclusive')
    return () => database.close()
  } catch (error) {
    database.close()
    if (isBusy(error)) {
      throw new RestoreRejected(
        `another program has ${file} open: stop it (a command, a backup, Litestream) and try again`,
        { cause: error },
      )
    }
    if (!isDamage(error)) throw error
    return () => {}
  }
}

const isDamage = (error: unknown) =>
  /^SQLITE_(CORRUPT|NOTADB|IOERR)/.test(String((error as { code?: string }).code))

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    // Some file systems know no links.
    if ((error as { code?: string }).code === 'EEXIST') throw error
    copyFileSync(from, to)
  }
}

/** SQLite would take the log of another database for the database's own. */
function removeLog(file: string): void {
  for (const suffix of ['-wal', '-shm', '-journal']) rmSync(`${file}${suffix}`, { force: true })
}
