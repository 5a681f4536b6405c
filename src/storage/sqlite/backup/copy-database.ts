import { Database } from 'bun:sqlite'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { databaseFile } from '../database/database.ts'
import { giveToOwner } from '../database/synced-files.ts'
import { SnapshotGuard } from './snapshot-guard.ts'

/** How far a backup is. */
export interface BackupProgress {
  phase: 'copying' | 'checking' | 'hashing'
  /** Bytes of this phase. Checking does not tell its progress, so this is 0 until it is done. */
  done: number
  total: number
}

export type OnBackupProgress = (progress: BackupProgress) => void

/** How many bytes are copied in one go, and after how many they are synced, so that no sync takes long. */
const pieceBytes = 2 ** 20
const syncEveryBytes = 4 * 2 ** 20

/** The header, which holds salts, tells one log from the next (fileformat2.html, 4.1). */
const walHeaderLength = 32

/**
 * Copies the database of a data directory, in use or not, to a new file: as it was at one moment, whole,
 * synced, and in one piece, without a log beside it.
 *
 * It copies what a crash would leave: first the bytes of the database file, while others go on writing it,
 * then those of its write-ahead log, which has everything that was changed meanwhile (`SnapshotGuard` makes
 * sure of that). SQLite then recovers the copy as it would after a crash.
 *
 * To be called where no other connection to the database is open in this process: closing a file drops all
 * locks that the process has on it (fcntl(2)), including those of SQLite.
 *
 * @throws SQLiteError, or an error with a `code` of the system
 */
export async function copyDatabase(
  dataDir: string,
  target: string,
  onProgress: OnBackupProgress = () => {},
): Promise<void> {
  const source = databaseFile(dataDir)
  // Opened before the guard and closed after it, because of those locks.
  await using database = await open(source, 'r')
  const guard = new SnapshotGuard(dataDir)
  try {
    await using copy = await open(target, 'wx', 0o600)
    await using logCopy = await open(`${target}-wal`, 'wx', 0o600)
    for (const { fd } of [copy, logCopy]) giveToOwner(fd, dirname(target), dataDir)
    const size = await sizeOf(database)
    let done = 0
    const tell = (piece: Uint8Array, total: number) => {
      guard.moveOn()
      done += piece.length
      onProgress({ phase: 'copying', done: Math.min(done, total), total })
    }
    // What the file grows by meanwhile is in the log.
    await copyBytes(database, copy, size, piece => tell(piece, size))
    await using log = await open(`${source}-wal`, 'r').catch(orMissing)
    if (log) {
      const total = size + (await sizeOf(log))
      await copyLog(log, logCopy, piece => tell(piece, total))
    }
    await Promise.all([copy.sync(), logCopy.sync()])
  } finally {
    guard.close()
  }
  foldLog(target)
  await using copy = await open(target, 'r')
  await copy.sync()
}

const orMissing = (error: { code?: string }) => {
  if (error.code === 'ENOENT') return null
  throw error
}

const sizeOf = async (file: FileHandle): Promise<number> => (await file.stat()).size

/** Copies this many bytes from a file's beginning, or as many as there are. Tells each piece once it is written. */
export async function copyBytes(
  from: FileHandle,
  to: FileHandle,
  length: number,
  onPiece: (piece: Uint8Array) => void,
): Promise<void> {
  const buffer = Buffer.allocUnsafe(pieceBytes)
  let unsynced = 0
  for (let position = 0; position < length; ) {
    const wanted = Math.min(pieceBytes, length - position)
    const { bytesRead } = await from.read(buffer, 0, wanted, position)
    if (bytesRead === 0) return
    const piece = buffer.subarray(0, bytesRead)
    await writeAll(to, piece, position)
    position += bytesRead
    unsynced += bytesRead
    // If this were left to the system, much would be written at once, and a commit's sync would wait for it.
    if (unsynced >= syncEveryBytes) {
      await to.datasync()
      unsynced = 0
    }
    onPiece(piece)
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await file.write(
      bytes,
      written,
      bytes.length - written,
      position + written,
    )
    written += bytesWritten
  }
}

/**
 * Copies a write-ahead log as it is now; SQLite ignores a frame that is only half written.
 *
 * The log may begin anew meanwhile, if nothing was committed since the copying began. Then the database
 * file has not changed either, and only the new log counts.
 */
async function copyLog(
  log: FileHandle,
  copy: FileHandle,
  onPiece: (piece: Uint8Array) => void,
): Promise<void> {
  for (;;) {
    const before = await headerOf(log)
    await copyBytes(log, copy, await sizeOf(log), onPiece)
    if (before.equals(await headerOf(log))) return
    await copy.truncate()
  }
}

async function headerOf(log: FileHandle): Promise<Buffer> {
  const header = Buffer.alloc(walHeaderLength)
  await log.read(header, 0, walHeaderLength, 0)
  return header
}

/** Has SQLite recover a copied database from its copied log, and leave one file. */
function foldLog(file: string): void {
  using database = new Database(file, { readwrite: true, strict: true })
  // With the file to itself, SQLite needs no shared memory. The file is synced once this is done.
  database.run('pragma locking_mode = exclusive')
  database.run('pragma synchronous = off')
  const mode = database.query<{ journal_mode: string }, []>('pragma journal_mode = delete').get()
  if (mode?.journal_mode !== 'delete') throw new Error('the copy could not be made one file')
}
