import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { replaceSynced } from '../database/synced-files.ts'

/** The newest backup of a data directory, wherever it went. */
interface LastBackup {
  /** Where it was made; it may have been moved since. */
  file: string
  /** RFC 3339. */
  madeAt: string
}

export const lastBackupFile = (dataDir: string) => join(dataDir, 'last-backup.json')

/** Notes a backup that was made, so that `cairn doctor` knows that there is one. */
export function noteBackup(dataDir: string, file: string, now: number): void {
  const note: LastBackup = { file: resolve(file), madeAt: new Date(now).toISOString() }
  try {
    replaceSynced(lastBackupFile(dataDir), `${JSON.stringify(note)}\n`)
  } catch {
    // The backup is whole all the same.
  }
}

/** Null if none was made since this release or an older one began to note it. */
export function lastBackup(dataDir: string): LastBackup | null {
  try {
    return JSON.parse(readFileSync(lastBackupFile(dataDir), 'utf8')) as LastBackup
  } catch {
    return null
  }
}
