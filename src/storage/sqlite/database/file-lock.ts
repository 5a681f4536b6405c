import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { createFile } from './synced-files.ts'

/** How long to wait for a lock, because checking whether it is held takes a shared one for a moment. */
const patienceMs = 250

/** Whether an error of SQLite says that somebody else holds a lock. */
export const isBusy = (error: unknown) =>
  String((error as { code?: string }).code).startsWith('SQLITE_BUSY')

export interface FileLock {
  release(): void
}

/**
 * Locks a file for this process alone, and creates it if there is none. This uses SQLite's own lock on it,
 * which the kernel takes back from a dead process.
 *
 * @returns null if another process holds it
 */
export function lockFile(path: string): FileLock | null {
  let database: Database | undefined
  try {
    createFile(path)
    database = new Database(path, { create: true })
    database.run(`pragma busy_timeout = ${patienceMs}`)
    // With a write-ahead log, an exclusive transaction would let readers pass.
    database.run('pragma journal_mode = delete')
    database.run('begin exclusive')
  } catch (error) {
    database?.close()
    if (isBusy(error)) return null
    throw error
  }
  return { release: () => database.close() }
}

/** Whether a process, this or another, has a file locked. */
export function isLocked(path: string): boolean {
  if (!existsSync(path)) return false
  using database = new Database(path, { readonly: true })
  try {
    database.query('select count(*) from sqlite_schema').get()
    return false
  } catch (error) {
    if (isBusy(error)) return true
    throw error
  }
}
