import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { link, open, rename, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { databaseFile, hasDatabase, openForReading } from '../database/database.ts'
import { lockFile } from '../database/file-lock.ts'
import { fullCheck } from '../database/inspect.ts'
import { schemaDifferences } from '../database/schema-check.ts'
import { giveToOwner, makeSyncedDirectory, syncDirectory } from '../database/synced-files.ts'
import { erasuresFile, linesOfList } from '../erasure/erasure-list.ts'
import { sha256Of, writeBeside, writeChecksum } from './checksum.ts'
import { erasuresFileOf, removeBeside } from './folder.ts'
import { partialIn, removePartial } from './partial.ts'
import { freeBytesOf, mib } from './room.ts'

/** A backup that cannot be made; the message says why and what to do. Nothing is left of it. */
export class BackupRejected extends Error {
  override readonly name = 'BackupRejected'
}

/** How far a backup or a restore is. */
export interface BackupProgress {
  phase: 'copying' | 'checking' | 'hashing'
  /** Bytes of this phase. Only hashing tells its progress; the others are at 0 until they are done. */
  done: number
  total: number
}

export type OnBackupProgress = (progress: BackupProgress) => void

/** A backup that is whole, checked and on the disk. */
export interface Backup {
  file: string
  bytes: number
  /** In hexadecimal; also in the file beside it, as `sha256sum -c` reads it. */
  sha256: string
  /** Why it cannot be restored as it is: what of it differs from Cairn's. */
  differences: string[]
}

/** Room that a backup on the disk of the data leaves there: without it, the server would refuse writes. */
const roomToLeaveBytes = 128 * 2 ** 20

/**
 * Copies the database of a data directory, in use or not, to a new file for its user alone. Checks the copy
 * to its last page, and only then gives it its name, with a checksum beside it. If the process dies
 * meanwhile, at most a partial file is left, which the next backup into that folder removes.
 *
 * The event loop stands still while the database is copied, and while the copy is checked.
 *
 * @throws BackupRejected; SQLiteError if the database cannot be read
 */
export async function backUp(
  dataDir: string,
  file: string,
  onProgress: OnBackupProgress,
): Promise<Backup> {
  if (!hasDatabase(dataDir)) throw new BackupRejected(`there is no Cairn data in ${dataDir}`)
  const lock = lockFile(join(dataDir, 'backup.lock'))
  if (lock === null) {
    throw new BackupRejected(`another backup of ${dataDir} is running: wait until it ends`)
  }
  const folder = dirname(file)
  const partial = partialIn(folder, dataDir)
  try {
    if (existsSync(file)) throw new BackupRejected(`${file} exists already: name another file`)
    removePartial(partial)
    await requireRoom(dataDir, folder)
    onProgress({ phase: 'copying', done: 0, total: (await stat(databaseFile(dataDir))).size })
    await copyDatabase(dataDir, partial)
    const { size } = await stat(partial)
    onProgress({ phase: 'checking', done: 0, total: size })
    const differences = requireWhole(partial)
    const sha256 = await sha256Of(partial, done =>
      onProgress({ phase: 'hashing', done, total: size }),
    )
    await publish(dataDir, partial, file, sha256)
    return { file, bytes: size, sha256, differences }
  } catch (error) {
    throw explained(error, folder)
  } finally {
    removePartial(partial)
    lock.release()
  }
}

/**
 * Removes what an unfinished backup has written, for a process that ends in the middle of one.
 *
 * @returns whether it is finished all the same, and stays
 */
export function dropBackup(dataDir: string, file: string): boolean {
  removePartial(partialIn(dirname(file), dataDir))
  const isFinished = existsSync(file)
  if (!isFinished) removeBeside(file)
  return isFinished
}

/**
 * Makes a folder for backups, for its owner alone; an existing one is left as it is.
 *
 * @throws BackupRejected
 */
export function makeFolder(folder: string): void {
  try {
    makeSyncedDirectory(folder)
  } catch (error) {
    throw explained(error, folder)
  }
}

/** Writes the database as it is at one moment, without unused pages, to a file that is made for it. */
async function copyDatabase(dataDir: string, target: string): Promise<void> {
  await using file = await open(target, 'wx', 0o600)
  giveToOwner(file.fd, dirname(target), dataDir)
  using database = openForReading(dataDir)
  database.query('vacuum into ?').run(target)
  await file.sync()
}

/** @throws BackupRejected if the copy and what comes meanwhile may not fit */
async function requireRoom(dataDir: string, folder: string): Promise<void> {
  const source = databaseFile(dataDir)
  const [database, log, ours, theirs] = await Promise.all([
    stat(source),
    stat(`${source}-wal`).catch(() => null),
    stat(dataDir),
    stat(folder),
  ])
  const free = freeBytesOf(folder)
  const isSameDisk = ours.dev === theirs.dev
  const needed = database.size + (log?.size ?? 0) + (isSameDisk ? roomToLeaveBytes : 0)
  if (free >= needed) return
  const more = isSameDisk ? ' (the data is on the same disk and also needs space)' : ''
  throw new BackupRejected(
    `the disk of ${folder} has ${mib(free)} free and the backup needs ${mib(needed)}${more}: free some space, or choose another disk`,
  )
}

/** @returns what a restore would refuse it for all the same @throws BackupRejected */
function requireWhole(copy: string): string[] {
  using database = new Database(copy, { readonly: true, strict: true })
  const [first, ...more] = fullCheck(database)
  if (first === undefined) return schemaDifferences(database)
  throw damaged(`${first}${more.length > 0 ? `, and ${more.length} more` : ''}`)
}

const damaged = (what: string) =>
  new BackupRejected(
    `the database is damaged, so no backup was made: ${what}. Keep a copy of the data directory, and see "cairn doctor --full"`,
  )

/**
 * Gives a checked copy its name, after what belongs beside it, so that a file with that name is whole. A
 * link fails if the name has been taken meanwhile, whereas a rename would replace that file.
 */
async function publish(
  dataDir: string,
  partial: string,
  file: string,
  sha256: string,
): Promise<void> {
  try {
    await writeChecksum(dataDir, file, sha256)
    // So that whoever restores this learns who was erased. A line that is not complete is still being written.
    const erasures = linesOfList(erasuresFile(dataDir)).map(line => `${line}\n`)
    if (erasures.length > 0) await writeBeside(dataDir, erasuresFileOf(file), erasures.join(''))
    await link(partial, file).catch(error => {
      if (!withoutLinks.includes(error.code)) throw error
      return rename(partial, file)
    })
  } catch (error) {
    removeBeside(file)
    throw error
  }
  syncDirectory(dirname(file))
}

/** The error codes of file systems that do not support links. */
const withoutLinks = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

/** The system's errors for a folder that is not one, or may not be written, or has no room. */
const ofFolder = /^(ENOENT|ENOTDIR|ELOOP|EACCES|EPERM|EROFS|EEXIST)$/
const ofRoom = /^(ENOSPC|EDQUOT|SQLITE_FULL)$/

function adviceFor(code: string): string | null {
  if (ofRoom.test(code)) return 'is full: free some space, or choose another directory'
  return ofFolder.test(code)
    ? 'cannot be used: choose a directory that this user can write to'
    : null
}

function explained(error: unknown, folder: string): unknown {
  const { code = '', path = folder } = error as { code?: string; path?: string }
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return damaged((error as Error).message)
  // Errors of the data are explained elsewhere.
  const isOurs = path.startsWith(folder) && !basename(path).startsWith('cairn.db')
  const known = isOurs ? adviceFor(code) : null
  return known ? new BackupRejected(`${folder} ${known} (${code})`, { cause: error }) : error
}
