import { constants, Database } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { fullCheck, newestReceipt } from '../database/inspect.ts'
import { schemaKnown, schemaOf } from '../database/migrate.ts'
import { schemaDifferences } from '../database/schema-check.ts'
import { expectedChecksum } from './checksum.ts'

/** A file that is not restored; the message says why and what to do. Nothing has changed. */
export class RestoreRejected extends Error {
  override readonly name = 'RestoreRejected'
}

/** What a backup holds. */
export interface BackupContent {
  /** The number of its schema; an older one is brought up to date at the next start. */
  schema: number
  knownSchema: number
  /** When the newest event in it was received, Unix milliseconds; null where there is none. */
  newestEventAt: number | null
}

/**
 * Compares a file's own checksum with the one beside it.
 *
 * @returns whether there was one to compare with
 * @throws RestoreRejected if they differ
 */
export function requireChecksum(file: string, sha256: string): boolean {
  const expected = expectedChecksum(file)
  if (expected === null) return false
  if (expected === sha256) return true
  const why = expected === 'unreadable' ? 'has no checksum' : 'has another'
  throw new RestoreRejected(
    `${file} has changed since it was made: its checksum is ${sha256}, and ${file}.sha256 ${why}. Use another backup`,
  )
}

/** @throws RestoreRejected if a log is beside a file, unless it is empty: the file alone is incomplete */
export function requireNoLog(file: string): void {
  const beside = [`${file}-wal`, `${file}-journal`].find(
    path => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0,
  )
  if (beside === undefined) return
  throw new RestoreRejected(
    `${file} is not a backup but a database in use, with its log (${beside}): back it up with "cairn backup"`,
  )
}

/**
 * Checks every page of a backup, its schema, and whose it is.
 *
 * @param name what the file is called in messages
 * @throws RestoreRejected if it is damaged, of a newer Cairn, or not as Cairn makes it
 */
export function checkBackup(file: string, name = file): BackupContent {
  try {
    using database = openUnchanging(file)
    const schema = schemaOf(database)
    if (schema === 0) throw new RestoreRejected(`${name} is not a Cairn database`)
    if (schema > schemaKnown) {
      throw new RestoreRejected(
        `${name} was made by a newer release (schema ${schema}, and this cairn works with ${schemaKnown}): restore it with that release`,
      )
    }
    requireNone(schemaDifferences(database), `${name} does not have the schema of a backup`)
    requireNone(fullCheck(database), `${name} is damaged`)
    return { schema, knownSchema: schemaKnown, newestEventAt: newestReceipt(database) }
  } catch (error) {
    const { code = '' } = error as { code?: string }
    if (!code.startsWith('SQLITE_') || ofMachine.test(code)) throw error
    throw new RestoreRejected(`${name} is damaged or not a database (${code})`, { cause: error })
  }
}

/** SQLite's errors that say nothing about a file. */
const ofMachine = /^SQLITE_(?:IOERR|NOMEM|FULL|BUSY|LOCKED|PERM|READONLY|INTERRUPT)/

const maxNamed = 3

/** @throws RestoreRejected that names the first faults, if there are any */
function requireNone(problems: readonly string[], what: string): void {
  if (problems.length === 0) return
  const named = problems.slice(0, maxNamed).join('; ')
  const more = problems.length - maxNamed
  throw new RestoreRejected(`${what}: ${named}${more > 0 ? `; ${more} more` : ''}`)
}

/**
 * Opens a file that nobody writes, without creating the files of a log beside it. A database that was
 * copied while it was in use asks for those (https://sqlite.org/uri.html, `immutable`).
 */
function openUnchanging(file: string): Database {
  const flags = constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI
  const database = new Database(`${pathToFileURL(resolve(file))}?immutable=1`, flags)
  // Nothing in the file's own schema may have functions run that reach beyond it.
  database.run('pragma trusted_schema = off')
  return database
}
