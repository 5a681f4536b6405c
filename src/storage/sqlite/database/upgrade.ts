import { statSync } from 'node:fs'
import { shortReasonOf } from '../../../core/text/reason.ts'
import { version } from '../../../core/version.ts'
import { backUp } from '../backup/backup.ts'
import type { BackupProgress } from '../backup/copy-database.ts'
import { removeBackup } from '../backup/folder.ts'
import { freeBytesOf, mib } from '../backup/room.ts'
import { copiesFolder, copiesIn, copyFile } from './copies.ts'
import { databaseFile, openForReading, openForWriting } from './database.ts'
import { type MigrationProgress, type MigrationStep, migrate, schemaState } from './migrate.ts'
import { requireUsable } from './prepare.ts'
import { makeInnerDirectory } from './synced-files.ts'
import { removeUpgradeNote, type UpgradeNote, writeUpgradeNote } from './upgrade-note.ts'

/** A database cannot be brought up to date as things are; the message says what to do. */
export class UpgradeRefused extends Error {
  override readonly name = 'UpgradeRefused'
}

/** What bringing a database up to date takes. */
export interface UpgradePlan {
  /** The schema that the database has, and the one that this binary wants. */
  from: number
  to: number
  due: readonly MigrationStep[]
  /** Including its write-ahead log. */
  databaseBytes: number
  /** On the disk of the data directory. */
  freeBytes: number
}

/** How far an upgrade is. */
export type UpgradeProgress =
  | ({ doing: 'copy' } & BackupProgress)
  | ({ doing: 'step' } & MigrationProgress)
  /** What was written is being moved from the log into the database's own file. */
  | { doing: 'checkpoint' }

/** What is being done, in words that follow "migrating: ". */
export function doingText(progress: UpgradeProgress): string {
  if (progress.doing === 'checkpoint') return 'writing the log back into the database'
  if (progress.doing === 'copy') {
    const { phase, done, total } = progress
    return `copying the database first: ${phase}, ${percentOf(done / total)}`
  }
  const { place, of, id, name, share } = progress
  return `step ${place} of ${of} (${id}, ${name}), ${percentOf(share)}`
}

/** The stage whose beginning a log or a terminal reports. */
export const stageOf = (progress: UpgradeProgress): string =>
  progress.doing === 'step' ? String(progress.place) : doingText(progress).split(',')[0]!

const percentOf = (share: number) => `${Math.floor((share || 0) * 100)} % of it done`

/** What the server itself needs to go on, and what a small database that changes often takes. */
const roomToLeaveBytes = 128 * 2 ** 20

const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0

/** @throws SchemaMismatch */
export function upgradePlan(dataDir: string): UpgradePlan {
  using database = openForReading(dataDir)
  const state = schemaState(database)
  requireUsable(dataDir, state)
  const { applied, known, due } = state
  const file = databaseFile(dataDir)
  const databaseBytes = sizeOf(file) + sizeOf(`${file}-wal`)
  return { from: applied, to: known, due, databaseBytes, freeBytes: freeBytesOf(dataDir) }
}

/**
 * How much of the disk an upgrade may take, at most: for the copy that is made first, for the log of what
 * changes, and for the growth of the file. One from the first release took three quarters of the database.
 */
export function wantedBytes({ due, databaseBytes }: UpgradePlan, withCopy: boolean): number {
  if (due.length === 0) return 0
  return (withCopy ? databaseBytes : 0) + databaseBytes + roomToLeaveBytes
}

/** @throws UpgradeRefused if the disk lacks the room that an upgrade may take */
export function requireDiskRoom(dataDir: string, plan: UpgradePlan, withCopy: boolean): void {
  const { freeBytes } = plan
  const wanted = wantedBytes(plan, withCopy)
  if (freeBytes >= wanted) return
  const advice = withCopy
    ? `make room, or keep a copy elsewhere yourself and run "cairn migrate --no-copy", which takes ${mib(wantedBytes(plan, false))}`
    : 'make room'
  throw new UpgradeRefused(
    `bringing the database from schema ${plan.from} to ${plan.to} may take ${mib(wanted)} on the disk of ${dataDir}, which has ${mib(freeBytes)} free: ${advice}`,
  )
}

/**
 * Brings a database up to date that no other connection has open: copies it first, then applies the steps
 * one by one. If it is killed at any moment, whole steps and the copy are left.
 *
 * @returns where the copy is; null if none was wanted or nothing was due
 * @throws SchemaMismatch, UpgradeRefused
 */
export async function upgradeDatabase(
  dataDir: string,
  now: number,
  { withCopy, onProgress }: { withCopy: boolean; onProgress: (_: UpgradeProgress) => void },
): Promise<string | null> {
  const plan = upgradePlan(dataDir)
  const { from, to, due } = plan
  const [first] = due
  if (first === undefined) return null
  requireDiskRoom(dataDir, plan, withCopy)
  const note = { from, to, startedAt: new Date(now).toISOString(), version, failure: null }
  writeUpgradeNote(dataDir, note)
  const copy = withCopy ? copyFile(dataDir, first.id, now) : null
  try {
    if (copy !== null) {
      makeInnerDirectory(copiesFolder(dataDir))
      await backUp(dataDir, copy, progress => onProgress({ doing: 'copy', ...progress }))
      await removeOthers(dataDir, copy, from)
    }
    applySteps(dataDir, now, onProgress)
    return copy
  } catch (error) {
    await tidyUp(dataDir, copy, { ...note, failure: shortReasonOf(error) })
    throw error
  }
}

/** The reason why the upgrade failed counts, and not a failure in here, as on a full disk. */
async function tidyUp(dataDir: string, copy: string | null, note: UpgradeNote): Promise<void> {
  try {
    // If the database is as it was, each try would leave another copy.
    if (copy !== null && upgradePlan(dataDir).from === note.from) await removeBackup(copy)
    writeUpgradeNote(dataDir, note)
  } catch {}
}

/** Removes copies of the same schema, which are from earlier tries: each takes as much room and holds less. */
async function removeOthers(dataDir: string, newest: string, schema: number): Promise<void> {
  for (const copy of copiesIn(dataDir)) {
    if (copy.schema === schema && copy.file !== newest) await removeBackup(copy.file)
  }
}

function applySteps(dataDir: string, now: number, onProgress: (_: UpgradeProgress) => void): void {
  using database = openForWriting(dataDir)
  migrate(database, now, progress => onProgress({ doing: 'step', ...progress }))
  removeUpgradeNote(dataDir)
  onProgress({ doing: 'checkpoint' })
  try {
    // Otherwise the first commits of the server would wait for this. If it fails, the log is as good.
    database.run('pragma wal_checkpoint(truncate)')
  } catch {}
}
