import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { databaseFile } from '../database.ts'

/** What every database file begins with (sqlite.org/fileformat.html, section 1.3). */
const magic = 'SQLite format 3\0'

function isDatabase(path: string): boolean {
  const handle = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(magic.length)
    readSync(handle, bytes)
    return bytes.toString('latin1') === magic
  } finally {
    closeSync(handle)
  }
}

/**
 * Copies of the database in its own directory, such as backups: they hold who was erased until they
 * are deleted. The database itself is not opened: closing it again would let go of SQLite's locks.
 */
export function copiesBeside(dataDir: string): string[] {
  return readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .filter(path => path !== databaseFile(dataDir) && !path.endsWith('server.lock'))
    .filter(isDatabase)
    .sort()
}
