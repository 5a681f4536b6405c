import { Database } from 'bun:sqlite'
import { constants, createReadStream, createWriteStream } from 'node:fs'
import { access, readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createFile, syncFile } from '../database/synced-files.ts'
import {
  addToErasures,
  ErasuresUnreadable,
  erasuresFile,
  linesOfList,
  listedIn,
} from '../erasure/erasure-list.ts'
import { endAllSessions } from '../organisations/dashboard-sessions.ts'
import type { OnBackupProgress } from './backup.ts'
import {
  type BackupContent,
  checkBackup,
  RestoreRejected,
  requireChecksum,
  requireNoLog,
} from './check-backup.ts'
import { sha256Of } from './checksum.ts'
import { erasuresFileOf } from './folder.ts'
import { removePartial, stagedName } from './partial.ts'
import { replaceDatabase } from './replace-database.ts'
import { freeBytesOf, mib } from './room.ts'

/** A backup that was checked. */
interface CheckedBackup {
  content: BackupContent
  /** Whether there was a checksum beside it, which it matches. */
  hasChecksum: boolean
}

/** What a restore has done. */
interface RestoredBackup extends CheckedBackup {
  /** Where the previous database is; null if there was none. */
  aside: string | null
  /** The number of lines about erased people that the data directory did not know. */
  erasuresTaken: number
}

/** Room that is left for the server's own work. */
const roomToLeaveBytes = 64 * 2 ** 20

/** @throws RestoreRejected if a backup cannot be restored */
export async function tryBackup(
  file: string,
  onProgress: OnBackupProgress,
): Promise<CheckedBackup> {
  return check(file, file, await sizeOfBackup(file), onProgress)
}

/** @param copy what is checked in its place: it, or a copy of it */
async function check(
  file: string,
  copy: string,
  total: number,
  onProgress: OnBackupProgress,
): Promise<CheckedBackup> {
  const sha256 = await sha256Of(copy, done => onProgress({ phase: 'hashing', done, total }))
  const hasChecksum = requireChecksum(file, sha256)
  onProgress({ phase: 'checking', done: 0, total })
  return { content: checkBackup(copy, file), hasChecksum }
}

/**
 * Puts the database of a backup in the place of a data directory's, which is kept aside. What is put there
 * is what was checked: a copy in the data directory. If the process dies meanwhile, either the old database
 * or the new one is there.
 *
 * The caller keeps servers out. Of the rest of the directory only the list of erasures changes: it takes up
 * those of the backup.
 *
 * @param now Unix milliseconds
 * @throws RestoreRejected
 */
export async function restore(
  dataDir: string,
  file: string,
  now: number,
  onProgress: OnBackupProgress,
): Promise<RestoredBackup> {
  const total = await sizeOfBackup(file)
  const staged = join(dataDir, stagedName)
  try {
    // Left by a restore that died.
    dropStaged(dataDir)
    await requireDiskRoom(dataDir, total)
    onProgress({ phase: 'copying', done: 0, total })
    createFile(staged)
    // Opened without creating it, so that it does not come back if a signal removes it first.
    await pipeline(createReadStream(file), createWriteStream(staged, { flags: 'r+' }))
    const checked = await check(file, staged, total, onProgress)
    signEverybodyOut(staged)
    syncFile(staged)
    // Done first, because an older database must not be seen without these.
    const erasuresTaken = await takeErasures(file, dataDir)
    const aside = await replaceDatabase(dataDir, staged, now)
    return { ...checked, erasuresTaken, aside }
  } finally {
    dropStaged(dataDir)
  }
}

/**
 * Removes what an unfinished restore has copied. A process may end with this wherever it comes to handle a
 * signal: all that changes the data is done in one go.
 */
export function dropStaged(dataDir: string): void {
  removePartial(join(dataDir, stagedName))
}

/** Whoever was signed in to the dashboard then may since have signed out, or been signed out. */
function signEverybodyOut(file: string): void {
  using database = new Database(file, { readwrite: true, strict: true })
  endAllSessions(database)
}

/** @throws RestoreRejected if there is no such file */
export async function sizeOfBackup(file: string): Promise<number> {
  const found = await access(file, constants.R_OK)
    .then(() => stat(file))
    .catch(error => {
      throw new RestoreRejected(
        `${file} cannot be read (${error.code}): name the file of a backup that this user may read`,
      )
    })
  if (!found.isFile()) {
    throw new RestoreRejected(
      `${file} is not a file: name one of a backup ("cairn backup list" shows those in a directory)`,
    )
  }
  requireNoLog(file)
  return found.size
}

async function requireDiskRoom(dataDir: string, bytes: number): Promise<void> {
  const [free, needed] = [freeBytesOf(dataDir), bytes + roomToLeaveBytes]
  if (free >= needed) return
  throw new RestoreRejected(
    `the disk of ${dataDir} has ${mib(free)} free and the restore needs ${mib(needed)}, because the old database is kept: free some space`,
  )
}

/**
 * Erased people are listed outside the database, one line each, so that an older database learns of them again.
 * This adds the lines of all lists in a backup's folder to the list of a data directory, where they are missing:
 * whichever backup is restored, on whichever machine, nobody comes back.
 *
 * @returns how many it added
 * @throws RestoreRejected if a list is damaged
 */
async function takeErasures(backup: string, dataDir: string): Promise<number> {
  const own = new Set(linesOfList(erasuresFile(dataDir)))
  const folder = dirname(backup)
  const lists = (await readdir(folder)).filter(name => name.endsWith(erasuresFileOf(''))).sort()
  const news = lists.map(name => join(folder, name)).flatMap(erasuresIn)
  const missing = new Map(news.filter(([line]) => !own.has(line)))
  addToErasures(dataDir, [...missing.values()])
  return missing.size
}

function erasuresIn(list: string) {
  try {
    return linesOfList(list)
      .filter(line => line !== '')
      .map((line, place) => [line, listedIn(line, list, place)] as const)
  } catch (error) {
    if (!(error instanceof ErasuresUnreadable)) throw error
    throw new RestoreRejected(
      `${basename(list)} next to the backup, which lists erased people, is damaged: restore it from another copy, or remove it`,
      { cause: error },
    )
  }
}
