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
 * Files that survive a power cut. A sync of a file covers its contents. That the file exists, and under
 * which name, is on the disk only once its directory is synced (fsync(2)).
 */

/** The directory may not be read, or the file system does not support this: SQLite goes on there too. */
const cannotBeSynced = ['EACCES', 'EPERM', 'EINVAL', 'EBADF', 'ENOTSUP']

/**
 * Makes a directory's names survive a power cut, as far as that is possible.
 *
 * @throws the file system's error if the disk fails
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

/** Creates a directory and any missing ones above it, for its owner alone. */
export function makeSyncedDirectory(directory: string): void {
  const first = mkdirSync(directory, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  const highest = dirname(resolve(first))
  for (let made = resolve(directory); made !== highest; made = dirname(made)) {
    syncDirectory(dirname(made))
  }
}

/** Writes a new file, whole and for its owner alone. Its name is not synced. */
export function writeSynced(file: string, text: string): void {
  const handle = openSync(file, 'wx', 0o600)
  try {
    fchmodSync(handle, 0o600)
    // Not writeSync, because on a full disk it writes a part and reports nothing.
    writeFileSync(handle, text)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Makes everything that was ever written to a file survive a power cut. */
export function syncFile(file: string): void {
  const handle = openSync(file, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Replaces a file with a text, for its owner alone. A power cut leaves the old file or the new one. */
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
