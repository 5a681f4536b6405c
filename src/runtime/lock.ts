import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { attempt } from '../core/attempt.ts'
import { type FileLock, isLocked, lockFile } from '../storage/sqlite/database/file-lock.ts'
import { makeSyncedDirectory, withFile } from '../storage/sqlite/database/synced-files.ts'
import type { TokenMode } from './token-mode.ts'

/** The server that serves from a data directory. It is in `server.json`, for people and for error messages. */
export interface LockHolder {
  pid: number
  host: string
  /** RFC 3339. */
  startedAt: string
  port: number
  managementHost: string
  managementPort: number
  version: string
  /** The database that it shares with other nodes, as `databasePlace` names it; null if it serves alone. */
  database?: string | null
  sessionTokens?: TokenMode
}

export interface Lock {
  /** Updates the description of the holder once more is known: a port that was chosen. */
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

const lockFileOf = (dataDir: string) => join(dataDir, 'server.lock')
const holderFile = (dataDir: string) => join(dataDir, 'server.json')

/** Where a running server lets its operator in: a socket that only the owner of the directory can open. */
export const socketFile = (dataDir: string): string => join(dataDir, 'cairn.sock')

/**
 * Makes this process the one server of a data directory, until it releases the lock or dies.
 *
 * @throws LockHeld, DataDirectoryUnusable
 */
export function acquireLock(dataDir: string, holder: LockHolder): Lock {
  usably(dataDir, () => makeSyncedDirectory(dataDir))
  const lock = keepServersOut(dataDir)
  try {
    usably(dataDir, () => writeHolder(dataDir, holder))
  } catch (error) {
    lock.release()
    throw error
  }
  return {
    describe: holder => writeHolder(dataDir, holder),
    release() {
      rmSync(holderFile(dataDir), { force: true })
      lock.release()
    },
  }
}

/**
 * Keeps servers out of a data directory during work that no server may see.
 *
 * @throws LockHeld, DataDirectoryUnusable
 */
export function keepServersOut(dataDir: string): FileLock {
  const lock = usably(dataDir, () => lockFile(lockFileOf(dataDir)))
  if (lock === null) throw new LockHeld(heldMessage(dataDir))
  return lock
}

/** Whether a server runs on a data directory, in this process or in another. */
export const isHeld = (dataDir: string): boolean =>
  usably(dataDir, () => isLocked(lockFileOf(dataDir)))

/** The server that runs on a data directory, as it described itself; null if there is no description. */
export const holderOf = (dataDir: string): LockHolder | null =>
  attempt(() => JSON.parse(readFileSync(holderFile(dataDir), 'utf8')) as LockHolder, null)

function writeHolder(dataDir: string, holder: LockHolder): void {
  const draft = `${holderFile(dataDir)}.${process.pid}`
  withFile(draft, 'w', handle => writeFileSync(handle, `${JSON.stringify(holder, null, 2)}\n`))
  renameSync(draft, holderFile(dataDir))
}

function heldMessage(dataDir: string): string {
  const holder = holderOf(dataDir)
  const who = holder
    ? `process ${holder.pid} on ${holder.host}, port ${holder.port}, since ${holder.startedAt}`
    : 'another process'
  return `a server is already running on ${dataDir} (${who}): stop it, or choose another directory with --data`
}

/** A fault of the disk is not the directory's fault, and the disk's own error is better advice. */
const diskProblem = /^(SQLITE_(FULL|IOERR)|ENOSPC|EDQUOT|EROFS|EIO$)/

/** Does work with a data directory. @throws DataDirectoryUnusable in place of the system's error */
function usably<Result>(dataDir: string, work: () => Result): Result {
  try {
    return work()
  } catch (cause) {
    const { code = String(cause) } = cause as { code?: string }
    if (diskProblem.test(code)) throw cause
    throw new DataDirectoryUnusable(
      `the data directory ${dataDir} cannot be written to (${code}): ${howToGive(dataDir)}, or choose another with --data`,
      { cause },
    )
  }
}

/** What makes the directory this user's. A volume that a container's engine has made is often root's. */
function howToGive(dataDir: string): string {
  const owner = attempt(() => statSync(dataDir).uid, undefined)
  const user = process.geteuid?.()
  if (owner === undefined || owner === user) return 'make it a directory that this user may write'
  return `it belongs to user ${owner}, and this is user ${user}: as root, run "chown -R ${user}" on it`
}
