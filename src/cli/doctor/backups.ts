import { resolve } from 'node:path'
import type { Config } from '../../config/settings.ts'
import { attempt } from '../../core/attempt.ts'
import { shellWord } from '../../core/text/wording.ts'
import { isoTime } from '../../core/time/clock.ts'
import { dayMs, minuteMs } from '../../core/time/durations.ts'
import { newestBackup } from '../../storage/sqlite/backup/folder.ts'
import { lastBackup } from '../../storage/sqlite/backup/last-backup.ts'
import { databasesAside } from '../../storage/sqlite/backup/replace-database.ts'
import { hasDatabase, openForReading } from '../../storage/sqlite/database/database.ts'
import { newestReceipt } from '../../storage/sqlite/database/inspect.ts'
import { codeOf } from '../asking.ts'
import { sizeOf } from '../output.ts'
import { error, type Finding, isUsableDirectory, ok, type Subject, warning } from './findings.ts'

/** How long a backup may take. */
const maxDurationMs = 30 * minuteMs

/** How old the newest backup may be if no server makes them. */
const maxAgeMs = 7 * dayMs

const schedule =
  'Set CAIRN_BACKUP_EVERY and CAIRN_BACKUP_DIR, or run "cairn backup DIR" from cron, best with DIR on another disk.'

/** Whether backups are made, and which databases restores replaced. */
export async function* checkBackups({ data, config, now }: Subject): AsyncGenerator<Finding> {
  if (!config || config.databaseUrl !== null || !data || !isUsableDirectory(data)) return
  const { backupEvery, backupDir } = config
  const isScheduled = backupEvery !== null && backupDir !== null
  yield isScheduled
    ? await checkScheduled(backupDir, backupEvery, now)
    : checkUnscheduled(data, config, now)
  const { length } = databasesAside(data)
  if (length === 0) return
  // They take up room, and may hold people who were erased since. The pattern includes their logs.
  const advice = `If you no longer need them, run "rm ${shellWord(resolve(data))}/cairn.db.before-*".`
  yield warning('backup', `Databases that restores replaced: ${length}`, advice)
}

/** Backups can be anywhere, even on another machine, so this reads the note beside the data. */
function checkUnscheduled(data: string, { checkpoints }: Config, now: number): Finding {
  if (checkpoints === 'litestream') return ok('backup', 'Litestream replicates the database.')
  const last = lastBackup(data)
  if (last === null) {
    return holdsEvents(data)
      ? warning('backup', 'No backup found.', schedule)
      : ok('backup', 'No backup and no events yet')
  }
  const what = `Newest backup: ${last.madeAt} (${last.file}); none are scheduled`
  const isOld = now - Date.parse(last.madeAt) > maxAgeMs
  return isOld ? warning('backup', what, schedule) : ok('backup', what)
}

/** A database that cannot be read may hold some. */
const holdsEvents = (data: string) =>
  attempt(() => {
    if (!hasDatabase(data)) return false
    using database = openForReading(data)
    return newestReceipt(database) !== null
  }, true)

async function checkScheduled(folder: string, everyMs: number, now: number): Promise<Finding> {
  const advice = 'Check that a server is running, and its log for "the scheduled backup failed".'
  try {
    const newest = await newestBackup(folder, now)
    if (!newest) return warning('backup', `No backup in ${folder} yet.`, advice)
    const what = `Newest backup in ${folder}: ${isoTime(newest.at)} (${sizeOf(newest.bytes)})`
    if (now - newest.at <= everyMs + maxDurationMs) return ok('backup', what)
    return error('backup', `${what}, older than CAIRN_BACKUP_EVERY.`, advice)
  } catch (problem) {
    const code = codeOf(problem)
    if (code === 'ENOENT') return warning('backup', `No backup in ${folder} yet.`, advice)
    const access = 'Run this as the user of the server, or give this user access.'
    return error('backup', `Cannot read the backups in ${folder} (${code}).`, access)
  }
}
