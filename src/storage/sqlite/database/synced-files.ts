import {
  closeSync,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Files that outlive a power cut. A sync of a file covers what is in it; that it is there, and under
 * which name, is on the disk once its directory is synced (fsync(2)).
 */

/** The directory may not be read, or the file system does not know this: SQLite goes on there too. */
const cannotBeSynced = ['EACCES', 'EPERM', 'EINVAL', 'EBADF', 'ENOTSUP']

/**
 * Has a directory's names outlive a power cut, as far as it can be had.
 *
 * @throws what the file system says where the disk fails
 */
export function syncDirectory(directory: string): void {
  let handle: number | undefined
  try {
    handle = openSync(directory, 'r')
    fsyncSync(handle)
  } catch (error) {
    if (!cannotBeSynced.includes(String((error as { code?: string }).code))) throw error
  } finally {
    if (handle !== undefined) closeSync(handle)
  }
}

/** Makes a directory and those above it that are missing, for its owner alone. */
export function makeSyncedDirectory(directory: string): void {
  const first = mkdirSync(directory, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  const highest = dirname(resolve(first))
  for (let made = resolve(directory); made !== highest; made = dirname(made)) {
    syncDirectory(dirname(made))
  }
}

/** Writes a file that is not there yet, whole and for its owner alone. Its name is not synced. */
export function writeSynced(file: string, text: string): void {
  const handle = openSync(file, 'wx', 0o600)
  try {
    fchmodSync(handle, 0o600)
    // Not writeSync: on a full disk it writes a part and says nothing.
    writeFileSync(handle, text)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Has all that was ever written into a file outlive a power cut. */
export function syncFile(file: string): void {
  const handle = openSync(file, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Puts a text in the place of a file, for its owner alone: a power cut leaves the old one or the new. */
export function replaceSynced(file: string, text: string): void {
  const draft = `${file}.${process.pid}.${crypto.randomUUID()}`
  try {
    writeSynced(draft, text)
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
  syncDirectory(dirname(file))
}
