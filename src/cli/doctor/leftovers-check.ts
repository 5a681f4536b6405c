import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { shellWord } from '../../core/text/wording.ts'
import { isHeld } from '../../server/lock.ts'
import { isPartial } from '../../storage/backup/partial.ts'
import { copiesFolder } from '../../storage/database/copies.ts'
import { isLocked } from '../../storage/database/file-lock.ts'
import { trialPrefix } from '../../storage/database/upgrade-trial.ts'
import { isReadableDirectory } from './directory-check.ts'
import { type Finding, type Subject, sizeOf, warning } from './finding.ts'

/** What backups, restores and tried migrations leave behind that were killed. */
export function checkLeftovers({ data, config }: Subject): Finding[] {
  if (data === null || !isReadableDirectory(data)) return []
  const folders = [data, copiesFolder(data), ...(config?.backupDir ? [config.backupDir] : [])]
  const left = [...new Set(folders)].filter(isReadable).flatMap(leftIn)
  if (left.length === 0 || isInUse(data)) return []
  const bytes = left.reduce((sum, path) => sum + bytesOf(path), 0)
  const what = `a killed command has left ${left.join(', ')} (${sizeOf(bytes)})`
  return [warning('directory', what, `run "rm -r ${left.map(shellWord).join(' ')}"`)]
}

const isReadable = (folder: string) => existsSync(folder) && isReadableDirectory(folder)

/** A backup, a restore or a migration may be under way. */
function isInUse(data: string): boolean {
  try {
    return isHeld(data) || isLocked(join(data, 'backup.lock'))
  } catch {
    return true
  }
}

function leftIn(folder: string): string[] {
  return readdirSync(folder)
    .filter(name => isPartial(name) || name.startsWith(trialPrefix))
    .map(name => join(folder, name))
}

function bytesOf(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found?.isDirectory()) return found?.size ?? 0
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0)
}
