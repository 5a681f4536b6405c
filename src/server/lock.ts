import { Database } from 'bun:sqlite'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeSyncedDirectory } from '../storage/synced-files.ts'
import type { TokenMode } from './token-mode.ts'

/** Who serves from a data directory; stands in `server.json` for people and for the message. */
export interface LockHolder {
  pid: number
  host: string
  /** RFC 3339. */
  startedAt: string
  port: number
  managementHost: string
  managementPort: number
  version: string
  /** Missing where an older version serves. */
  sessionTokens?: TokenMode
}

export interface Lock {
  /** Says more of the holder, once it is known: a port that was chosen. */
  describe(holder: LockHolder): void
  release(): void
}

/** Another server has the data directory; the message says which. */
export class LockHeld extends Error {
  override readonly name = 'LockHeld'
}

/** The data directory cannot be written to. */
export class DataDirectoryUnusable extends Error {
  override readonly name = 'DataDirectoryUnusable'
}

const lockFile = (dataDir: string) => join(dataDir, 'server.lock')
const holderFile = (dataDir: string) => join(dataDir, 'server.json')

/** How long a lock is waited for: `isHeld` of another process takes a shared one for a moment. */
const patienceMs = 250

const isBusy = (error: unknown) =>
  String((error as { code?: string }).code).startsWith('SQLITE_BUSY')

/**
 * Makes this process the one server of a data directory, until it releases the lock or dies: the
 * lock is SQLite's own on a file, which the kernel takes back from a dead process.
 *
 * @throws LockHeld, DataDirectoryUnusable
 */
export function acquireLock(dataDir: string, holder: LockHolder): Lock {
  let database: Database | undefined
  try {
    makeSyncedDirectory(dataDir)
    database = new Database(lockFile(dataDir), { create: true })
    database.run(`pragma busy_timeout = ${patienceMs}`)
    // With a write-ahead log, an exclusive transaction would let readers pass.
    database.run('pragma journal_mode = delete')
    database.run('begin exclusive')
    writeHolder(dataDir, holder)
  } catch (error) {
    database?.close()
    if (isBusy(error)) throw new LockHeld(heldMessage(dataDir))
    throw unusable(dataDir, error)
  }
  return {
    describe: holder => writeHolder(dataDir, holder),
    release() {
      rmSync(holderFile(dataDir), { force: true })
      database.close()
    },
  }
}

/** Whether a server runs on a data directory, in this process or in another. */
export function isHeld(dataDir: string): boolean {
  if (!existsSync(lockFile(dataDir))) return false
  const database = new Database(lockFile(dataDir), { readonly: true })
  try {
    database.query('select count(*) from sqlite_schema').get()
    return false
  } catch (error) {
    if (isBusy(error)) return true
    throw unusable(dataDir, error)
  } finally {
    database.close()
  }
}

/** The server that runs on a data directory, as it said of itself; null where none says so. */
export function holderOf(dataDir: string): LockHolder | null {
  try {
    return JSON.parse(readFileSync(holderFile(dataDir), 'utf8')) as LockHolder
  } catch {
    return null
  }
}

function writeHolder(dataDir: string, holder: LockHolder): void {
  const draft = `${holderFile(dataDir)}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(holder, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, holderFile(dataDir))
}

function heldMessage(dataDir: string): string {
  const holder = holderOf(dataDir)
  const who = holder
    ? `process ${holder.pid} on ${holder.host}, port ${holder.port}, since ${holder.startedAt}`
    : 'another process'
  return `a server runs already on ${dataDir} (${who}): stop it, or choose another directory with --data`
}

function unusable(dataDir: string, cause: unknown): DataDirectoryUnusable {
  const { code = String(cause) } = cause as { code?: string }
  return new DataDirectoryUnusable(
    `the data directory ${dataDir} cannot be written to (${code}): make it a directory that this user may write, or choose another with --data`,
    { cause },
  )
}
