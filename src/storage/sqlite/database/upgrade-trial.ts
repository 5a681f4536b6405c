import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { copyDatabase } from '../backup/copy-database.ts'
import { databaseFile, openForReading } from './database.ts'
import { quickCheck } from './inspect.ts'
import { makeInnerDirectory } from './synced-files.ts'
import {
  requireDiskRoom,
  type UpgradeProgress,
  UpgradeRefused,
  upgradeDatabase,
  upgradePlan,
} from './upgrade.ts'

/** The prefix of folders in which a migration is tried. If one stays, its trial was killed. */
export const trialPrefix = 'migration-trial-'

/**
 * Brings a copy of a database up to date, checks it and deletes it. This happens on the disk of the data
 * directory, while a server goes on.
 *
 * @throws SchemaMismatch, UpgradeRefused
 */
export async function tryUpgrade(
  dataDir: string,
  now: number,
  onProgress: (progress: UpgradeProgress) => void,
): Promise<void> {
  requireDiskRoom(dataDir, upgradePlan(dataDir), true)
  const trialDir = join(dataDir, `${trialPrefix}${crypto.randomUUID()}`)
  makeInnerDirectory(trialDir)
  try {
    const copy = databaseFile(trialDir)
    await copyDatabase(dataDir, copy, progress => onProgress({ doing: 'copy', ...progress }))
    await upgradeDatabase(trialDir, now, { withCopy: false, onProgress })
    using database = openForReading(trialDir)
    const faults = [...quickCheck(database)].flatMap(({ faults }) => faults)
    if (faults.length > 0) throw new UpgradeRefused(`the copy came out damaged: ${faults[0]}`)
  } finally {
    rmSync(trialDir, { recursive: true, force: true })
  }
}
