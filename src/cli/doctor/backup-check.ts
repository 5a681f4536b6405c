import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../../config/settings.ts'
import { attempt } from '../../core/attempt.ts'
import { shellWord } from '../../core/text/wording.ts'
import { isoTime } from '../../core/time/clock.ts'
import { dayMs, minuteMs } from '../../core/time/durations.ts'
import { isHeld } from '../../runtime/lock.ts'
import { type KeptBackup, newestBackup } from '../../storage/sqlite/backup/folder.ts'
import { lastBackup } from '../../storage/sqlite/backup/last-backup.ts'
import { isPartial } from '../../storage/sqlite/backup/partial.ts'
import { databasesAside } from '../../storage/sqlite/backup/replace-database.ts'
import { hasDatabase, openForReading } from '../../storage/sqlite/database/database.ts'
import { isLocked } from '../../storage/sqlite/database/file-lock.ts'
import { newestReceipt } from '../../storage/sqlite/database/inspect.ts'
import { counted, sizeOf } from '../output.ts'
import {
  type DataSubject,
  error,
  type Finding,
  isReadableDirectory,
  ok,
  type Subject,
  warning,
} from './finding.ts'

/** How long a backup may take before it counts as missing. */
const patienceMs = 30 * minuteMs

/** How old the newest backup may be if they are made by hand or by cron. */
const oldDays = 7

/** Whether backups are made, and what restores have left behind. */
export async function checkBackups({ data, config, now }: Subject): Promise<Finding[]> {
  const left = data !== null && isReadableDirectory(data) ? checkAside(data) : []
  if (!config) return left
  if (config.databaseUrl !== null) return left
  const { backupEvery, backupDir } = config
  if (backupEvery === null || backupDir === null) return [checkUnscheduled(config, now), ...left]
  return [await checkNewest(backupDir, backupEvery, now), ...left]
}

/**
 * Goes by what the backups recorded beside the data, because they may lie anywhere, even where this cannot
 * look.
 */
function checkUnscheduled({ data, checkpoints }: Config, now: number): Finding {
  if (checkpoints === 'litestream') {
    return ok('backup', 'no backups are scheduled here: Litestream should keep a replica')
  }
  const last = lastBackup(data)
  if (last === null) return checkNeed(data)
  const what = `the newest backup is of ${last.madeAt} (${last.file}), and none are scheduled here`
  const isOld = now - Date.parse(last.madeAt) > oldDays * dayMs
  return isOld ? warning('backup', what, schedule) : ok('backup', what)
}

const schedule =
  'set CAIRN_BACKUP_EVERY and CAIRN_BACKUP_DIR, or have cron run "cairn backup DIR", DIR best on another disk'

/** Where no backup was made, which needs none as long as there is nothing to lose. */
function checkNeed(data: string): Finding {
  const holdsEvents = attempt(() => {
    if (!hasDatabase(data)) return false
    using database = openForReading(data)
    return newestReceipt(database) !== null
  }, null)
  if (holdsEvents === false) return ok('backup', 'no backup was made yet, and no event is stored')
  const what = holdsEvents
    ? 'events are stored, and no backup was ever made'
    : 'no backup is known, and whether events are stored cannot be read'
  return warning('backup', what, schedule)
}

async function checkNewest(folder: string, everyMs: number, now: number): Promise<Finding> {
  const advice = 'check that a server runs, and look in its log for "the scheduled backup failed"'
  let newest: KeptBackup | null
  try {
    newest = await newestBackup(folder, now)
  } catch (fault) {
    const { code } = fault as { code?: string }
    if (code === 'ENOENT') return warning('backup', `there is no backup in ${folder} yet`, advice)
    const access = 'let this user read and write it, or run this as the user of the server'
    return error('backup', `the backups in ${folder} cannot be read (${code})`, access)
  }
  if (!newest) return warning('backup', `there is no backup in ${folder} yet`, advice)
  const what = `the newest backup in ${folder} is from ${isoTime(newest.at)} (${sizeOf(newest.bytes)})`
  if (now - newest.at <= everyMs + patienceMs) return ok('backup', what)
  return error('backup', `${what}, older than CAIRN_BACKUP_EVERY asks for`, advice)
}

/** Replaced databases take up room, and hold what was erased since. */
function checkAside(data: string): Finding[] {
  const aside = databasesAside(data)
  if (aside.length === 0) return []
  const what = `${counted(aside.length, 'database')} that restores replaced ${aside.length === 1 ? 'is' : 'are'} kept`
  // The pattern includes the logs that are kept beside damaged databases.
  const advice = `once all is well, run "rm ${shellWord(resolve(data))}/cairn.db.before-*"`
  return [warning('backup', what, advice)]
}

/** What killed backups and restores leave behind. */
export function checkLeftovers({ data, config }: DataSubject): Finding[] {
  const folders = [data, ...(config?.backupDir ? [config.backupDir] : [])]
  const left = [...new Set(folders)].filter(isReadable).flatMap(leftIn)
  if (left.length === 0 || isInUse(data)) return []
  const bytes = left.reduce((sum, path) => sum + bytesOf(path), 0)
  const what = `a killed command has left ${left.join(', ')} (${sizeOf(bytes)})`
  return [warning('directory', what, `run "rm -r ${left.map(shellWord).join(' ')}"`)]
}

const isReadable = (folder: string) => existsSync(folder) && isReadableDirectory(folder)

/** A backup or a restore may be under way. */
const isInUse = (data: string) =>
  attempt(() => isHeld(data) || isLocked(join(data, 'backup.lock')), true)

function leftIn(folder: string): string[] {
  return readdirSync(folder)
    .filter(name => isPartial(name))
    .map(name => join(folder, name))
}

function bytesOf(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found?.isDirectory()) return found?.size ?? 0
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0)
}
