import { createHash } from 'node:crypto'
import { realpathSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { attempt } from '../../../core/attempt.ts'

/** A backup on its way into a data directory. */
export const stagedName = '.cairn-restore.partial'

/**
 * Where a backup is made before it has its name: in the same folder, so that it can be renamed. Each data
 * directory has one such name, because it makes one backup at a time.
 */
export function partialIn(folder: string, dataDir: string): string {
  const whose = createHash('sha256')
    .update(`${hostname()}:${realpathSync(dataDir)}`)
    .digest('hex')
  return join(folder, `.cairn-backup-${whose.slice(0, 12)}.partial`)
}

/** Removes such a file, and what SQLite has beside it; if that is impossible now, the next backup tries again. */
export function removePartial(partial: string): void {
  for (const path of filesOf(partial)) attempt(() => rmSync(path, { force: true }), undefined)
}

/** The same without waiting for the folder, which may be on a disk that hangs. */
export const clearPartial = (partial: string) =>
  Promise.all(filesOf(partial).map(path => rm(path, { force: true })))

const filesOf = (partial: string) => ['', '-wal', '-journal'].map(suffix => `${partial}${suffix}`)
