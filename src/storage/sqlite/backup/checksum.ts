import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { giveToOwner } from '../database/synced-files.ts'

/** A file's SHA-256 in a file beside it, as `sha256sum -c` reads it. */
export const checksumFileOf = (file: string) => `${file}.sha256`

/** No such file is longer: a name has 255 bytes at most. */
const maxBytes = 1_024

/** In hexadecimal. */
export async function sha256Of(file: string, onBytes: (done: number) => void): Promise<string> {
  const hash = createHash('sha256')
  let done = 0
  for await (const chunk of Bun.file(file).stream()) {
    hash.update(chunk)
    done += chunk.length
    onBytes(done)
  }
  return hash.digest('hex')
}

/**
 * Writes what belongs beside a backup. A backup that was cut off may have left such a file, and whoever
 * else may write to the folder could have put a link there, which is not followed.
 */
export async function writeBeside(dataDir: string, path: string, text: string): Promise<void> {
  await rm(path, { force: true })
  await using file = await open(path, 'wx', 0o600)
  giveToOwner(file.fd, dirname(path), dataDir)
  await file.writeFile(text)
  await file.sync()
}

export async function writeChecksum(dataDir: string, file: string, sha256: string): Promise<void> {
  const line = `${sha256}  ${basename(file)}\n`
  await writeBeside(dataDir, checksumFileOf(file), line)
}

/** What a file's SHA-256 should be; null if nothing says so, `unreadable` if it is not clear. */
export function expectedChecksum(file: string): string | null | 'unreadable' {
  const path = checksumFileOf(file)
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) return null
  if (found.size > maxBytes) return 'unreadable'
  return /^([0-9a-f]{64})\b/i.exec(readFileSync(path, 'utf8'))?.[1]?.toLowerCase() ?? 'unreadable'
}
