import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Files that survive a power cut. A sync of a file covers its contents. That the file exists, and under
 * which name, is on the disk only once its directory is synced (fsync(2)).
 */

/**
 * Gives a new file of root's to the owner of the directory that it is in. The service runs as that user, and
 * could not open it otherwise. To be called as soon as the file exists, so that it holds however a command
 * ends; and with a handle, because that user could put a link in the file's place.
 *
 * @param dataDir does nothing if the owner of this directory is another one
 */
export function giveToOwner(handle: number, directory: string, dataDir = directory): void {
  if (process.geteuid?.() !== 0) return
  const { uid, gid } = statSync(directory)
  if (uid === 0 || uid !== statSync(dataDir).uid) return
  try {
    fchownSync(handle, uid, gid)
  } catch {
    // Without the privilege, as in some containers, it stays root's: "cairn doctor" says so.
  }
}

/** Creates an empty file for the owner of its directory; does nothing if there is one, which SQLite then opens. */
export function createFile(path: string): void {
  if (existsSync(path)) return
  try {
    withFile(path, 'wx', () => {})
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  }
}

/** Opens a file while work lasts; one that this creates is for the owner of its directory alone. */
export function withFile<T>(
  path: string,
  flags: 'r' | 'wx' | 'w' | 'a+',
  work: (handle: number) => T,
): T {
  if (flags === 'w' || flags === 'a+') createFile(path)
  const handle = openSync(path, flags, 0o600)
  try {
    if (flags === 'wx') giveToOwner(handle, dirname(path))
    return work(handle)
  } finally {
    closeSync(handle)
  }
}

/** The directory may not be read, or the file system does not support this: SQLite goes on there too. */
const cannotBeSynced = ['EACCES', 'EPERM', 'EINVAL', 'EBADF', 'ENOTSUP']

/**
 * Makes a directory's names survive a power cut, as far as that is possible.
 *
 * @throws the file system's error if the disk fails
 */
export function syncDirectory(directory: string): void {
  try {
    syncFile(directory)
  } catch (error) {
    if (!cannotBeSynced.includes(String((error as { code?: string }).code))) throw error
  }
}

/** Creates a directory within a data directory, for the owner of that alone; an existing one stays as it is. */
export function makeInnerDirectory(directory: string): void {
  if (mkdirSync(directory, { recursive: true, mode: 0o700 }) === undefined) return
  const handle = openSync(directory, constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    giveToOwner(handle, dirname(resolve(directory)))
  } finally {
    closeSync(handle)
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
  withFile(file, 'wx', handle => {
    fchmodSync(handle, 0o600)
    // Not writeSync, because on a full disk it writes a part and reports nothing.
    writeFileSync(handle, text)
    fsyncSync(handle)
  })
}

/** Makes everything that was ever written to a file survive a power cut. */
export const syncFile = (file: string): void => withFile(file, 'r', fsyncSync)

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
