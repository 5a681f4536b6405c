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
import { counted, sizeOf } from '../output.ts'
import { error, type Finding, isUsableDirectory, ok, type Subject, warning } from './finding.ts'

/** How long a backup may take before it counts as missing. */
const patienceMs = 30 * minuteMs

/** How old the newest backup may be if they are made by hand or by cron. */
const maxAgeMs = 7 * dayMs

const schedule =
  'set CAIRN_BACKUP_EVERY and CAIRN_BACKUP_DIR, or have cron run "cairn backup DIR", DIR best on another disk'

/** Whether backups are made, and what restores have left behind. */
export async function checkBackups({ data, config, now }: Subject): Promise<Finding[]> {
  if (!config || config.databaseUrl !== null || !data || !isUsableDirectory(data)) return []
  const { backupEvery, backupDir } = config
  const isScheduled = backupEvery !== null && backupDir !== null
  const newest = isScheduled
    ? await checkScheduled(backupDir, backupEvery, now)
    : checkUnscheduled(data, config, now)
  return [newest, ...checkAside(data)]
}

/** Backups may be anywhere, even on another machine, so this goes by what they noted beside the data. */
function checkUnscheduled(data: string, { checkpoints }: Config, now: number): Finding {
  if (checkpoints === 'litestream') {
    return ok('backup', 'no backups are scheduled here: Litestream should keep a replica')
  }
  const last = lastBackup(data)
  if (last === null) {
    return holdsEvents(data)
      ? warning('backup', 'no backup was ever made', schedule)
      : ok('backup', 'no backup was made yet, and no event is stored')
  }
  const what = `the newest backup is of ${last.madeAt} (${last.file}), and none are scheduled here`
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
  const advice = 'check that a server runs, and look in its log for "the scheduled backup failed"'
  try {
    const newest = await newestBackup(folder, now)
    if (!newest) return warning('backup', `there is no backup in ${folder} yet`, advice)
    const what = `the newest backup in ${folder} is from ${isoTime(newest.at)} (${sizeOf(newest.bytes)})`
    if (now - newest.at <= everyMs + patienceMs) return ok('backup', what)
    return error('backup', `${what}, older than CAIRN_BACKUP_EVERY asks for`, advice)
  } catch (problem) {
    const code = codeOf(problem)
    if (code === 'ENOENT') return warning('backup', `there is no backup in ${folder} yet`, advice)
    const access = 'let this user read and write it, or run this as the user of the server'
    return error('backup', `the backups in ${folder} cannot be read (${code})`, access)
  }
}

/** Replaced databases take up room, and hold what was erased since. */
function checkAside(data: string): Finding[] {
  const { length } = databasesAside(data)
  if (length === 0) return []
  const what = `${counted(length, 'database')} that restores replaced ${length === 1 ? 'is' : 'are'} kept`
  // The pattern includes the logs that are kept beside damaged databases.
  const advice = `once all is well, run "rm ${shellWord(resolve(data))}/cairn.db.before-*"`
  return [warning('backup', what, advice)]
}
