import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { dayMs } from '../../core/durations.ts'

const partialName = /^\.cairn-backup-[0-9a-f]{12}\.partial(-wal|-journal)?$/

/**
 * Where a backup is made before it has its name: in the same folder, so that it can be renamed. Each
 * data directory has one name for it, since it makes one backup at a time.
 */
export function partialIn(folder: string, dataDir: string): string {
  const whose = createHash('sha256')
    .update(`${hostname()}:${realpathSync(dataDir)}`)
    .digest('hex')
  return join(folder, `.cairn-backup-${whose.slice(0, 12)}.partial`)
}

/** Removes what dead backups of this data directory left, and what others left for a day. */
export async function clearPartials(folder: string, ours: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!partialName.test(name)) continue
    const path = join(folder, name)
    if (path.startsWith(ours) || (await isAbandoned(path))) await rm(path, { force: true })
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null)
  return found !== null && Date.now() - found.mtimeMs > dayMs
}
