import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { databaseFile } from '../database/database.ts'

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
 * are deleted. The database itself is not opened, nor its log: closing a file again would let go of all
 * locks that SQLite has on it in this process (fcntl(2)), those of the shared memory too.
 */
export function copiesBeside(dataDir: string): string[] {
  const database = databaseFile(dataDir)
  const ownFiles = ['', '-wal', '-shm'].map(suffix => `${database}${suffix}`)
  return readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .filter(path => !ownFiles.includes(path) && !path.endsWith('.lock'))
    .filter(isDatabase)
    .sort()
}
