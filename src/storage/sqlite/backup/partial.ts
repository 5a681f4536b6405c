import { createHash } from 'node:crypto'
import { realpathSync, rmSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { attempt } from '../../../core/attempt.ts'
import { dayMs } from '../../../core/time/durations.ts'

const partialName = /^\.cairn-backup-[0-9a-f]{12}\.partial(-wal|-journal)?$/

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
  for (const suffix of ['', '-wal', '-journal']) {
    attempt(() => rmSync(`${partial}${suffix}`, { force: true }), undefined)
  }
}

/** Removes what a dead backup of the same data directory left. */
export async function clearPartials(folder: string, ours: string): Promise<void> {
  for (const path of await partialsIn(folder)) {
    if (path.startsWith(ours)) await rm(path, { force: true })
  }
}

/** Removes what dead backups of any data directory or machine left, if nobody has written it for a day. */
export async function clearAbandoned(folder: string, now: number): Promise<void> {
  for (const path of await partialsIn(folder)) {
    const found = await stat(path).catch(() => null)
    if (found !== null && now - found.mtimeMs > dayMs) await rm(path, { force: true })
  }
}

/** Whether a file is one that a backup or a restore works on, by its name. */
export const isPartial = (name: string) => partialName.test(name) || name === stagedName

const partialsIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter(name => partialName.test(name)).map(name => join(folder, name))
