import { rmSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { checksumFileOf } from './checksum.ts'

/** A backup in a folder. */
export interface KeptBackup {
  file: string
  /** When it was begun, by its name; Unix milliseconds. */
  at: number
  bytes: number
}

const nameOfBackup = /^cairn-(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})Z\.db$/

/** The name of a backup in a folder of backups: sorted by name, they are in the order of time. */
export const backupNameAt = (now: number) =>
  `cairn-${new Date(now).toISOString().slice(0, 19).replaceAll(':', '-')}Z.db`

async function* newestFirst(folder: string): AsyncGenerator<KeptBackup> {
  for (const name of (await readdir(folder)).sort().reverse()) {
    const [, day, hours, minutes, seconds] = nameOfBackup.exec(name) ?? []
    const found = day && (await stat(join(folder, name)).catch(() => null))
    if (!found) continue
    const at = Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`)
    yield { file: join(folder, name), at, bytes: found.size }
  }
}

/** The backups in a folder, newest first. Files without a name that Cairn gives to backups do not count. */
export const backupsIn = (folder: string): Promise<KeptBackup[]> =>
  Array.fromAsync(newestFirst(folder))

/**
 * The newest of those; null if there is none. A backup from the future was made by a wrong clock, and does
 * not tell when the next is due.
 *
 * @param now epoch milliseconds
 */
export async function newestBackup(folder: string, now: number): Promise<KeptBackup | null> {
  for await (const backup of newestFirst(folder)) if (backup.at <= now) return backup
  return null
}

/**
 * Removes all but the newest backups that have a name of Cairn's, and what was beside those that are gone.
 * Backups from the future stay and do not count until then, because one clock or the other was wrong.
 *
 * @param now epoch milliseconds
 * @returns those that it removed
 */
export async function keepNewest(
  folder: string,
  count: number,
  now: number,
): Promise<KeptBackup[]> {
  const old = (await backupsIn(folder)).filter(({ at }) => at <= now).slice(count)
  for (const { file } of old) await removeBackup(file)
  const names = await readdir(folder)
  for (const name of names) {
    const [backup, suffix] = name.split(/(?<=\.db)(?=\.)/)
    const isBeside = suffix !== undefined && suffixesBeside.includes(suffix)
    if (!isBeside || !backup || !nameOfBackup.test(backup) || names.includes(backup)) continue
    await rm(join(folder, name), { force: true })
  }
  return old
}

export const erasuresFileOf = (backup: string) => `${backup}.erasures.jsonl`

/** What is kept beside a backup. */
const suffixesBeside = [checksumFileOf(''), erasuresFileOf('')]

export async function removeBackup(file: string): Promise<void> {
  await rm(file, { force: true })
  removeBeside(file)
}

export function removeBeside(file: string): void {
  for (const suffix of suffixesBeside) rmSync(`${file}${suffix}`, { force: true })
}
