import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { replaceSynced } from './synced-files.ts'

/**
 * A note beside the database while it is brought up to date. It stays if that did not succeed, and
 * `cairn doctor` then reports it.
 */
export interface UpgradeNote {
  /** The schema that the database had, and the one that it is to have. */
  from: number
  to: number
  /** RFC 3339. */
  startedAt: string
  /** The release that did it. */
  version: string
  /** Why it failed; null while it is under way, or if its process was killed. */
  failure: string | null
}

const noteFile = (dataDir: string) => join(dataDir, 'migration.json')

export function writeUpgradeNote(dataDir: string, note: UpgradeNote): void {
  replaceSynced(noteFile(dataDir), `${JSON.stringify(note, null, 2)}\n`)
}

/** Null if no migration is under way or was left unfinished. */
export function upgradeNote(dataDir: string): UpgradeNote | null {
  try {
    return JSON.parse(readFileSync(noteFile(dataDir), 'utf8')) as UpgradeNote
  } catch {
    return null
  }
}

export function removeUpgradeNote(dataDir: string): void {
  rmSync(noteFile(dataDir), { force: true })
}
