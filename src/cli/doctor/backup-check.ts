import { resolve } from 'node:path'
import { isoTime } from '../../core/clock.ts'
import { minuteMs } from '../../core/durations.ts'
import { shellWord } from '../../core/wording.ts'
import { type KeptBackup, newestBackup } from '../../storage/backup/folder.ts'
import { databasesAside } from '../../storage/backup/replace-database.ts'
import { counted } from '../output.ts'
import { isReadableDirectory } from './directory-check.ts'
import { error, type Finding, ok, type Subject, sizeOf, warning } from './finding.ts'

/** How long a backup may take before it is missed. */
const patienceMs = 30 * minuteMs

/** Whether scheduled backups are made, and what restores have left. */
export async function checkBackups({ data, config, now }: Subject): Promise<Finding[]> {
  const left = data !== null && isReadableDirectory(data) ? checkAside(data) : []
  if (!config) return left
  const { backupEvery, backupDir } = config
  if (backupEvery === null || backupDir === null) {
    const what = 'no backups are scheduled here: CAIRN_BACKUP_EVERY and CAIRN_BACKUP_DIR do'
    return [ok('backup', what), ...left]
  }
  return [await checkNewest(backupDir, backupEvery, now), ...left]
}

async function checkNewest(folder: string, everyMs: number, now: number): Promise<Finding> {
  const advice = 'see that a server runs, and in its log for "the scheduled backup failed"'
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
  const what = `the newest backup in ${folder} is of ${isoTime(newest.at)} (${sizeOf(newest.bytes)})`
  if (now - newest.at <= everyMs + patienceMs) return ok('backup', what)
  return error('backup', `${what}, older than CAIRN_BACKUP_EVERY asks for`, advice)
}

/** Replaced databases take room, and hold what was erased since. */
function checkAside(data: string): Finding[] {
  const aside = databasesAside(data)
  if (aside.length === 0) return []
  const what = `${counted(aside.length, 'database')} that restores replaced ${aside.length === 1 ? 'is' : 'are'} kept`
  // With the logs that those of damaged ones have beside them.
  const advice = `once all is well, run "rm ${shellWord(resolve(data))}/cairn.db.before-*"`
  return [warning('backup', what, advice)]
}
