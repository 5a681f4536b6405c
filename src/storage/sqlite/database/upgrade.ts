import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { backUp } from '../backup/backup.ts'
import type { BackupProgress } from '../backup/copy-database.ts'
import { removeBackup } from '../backup/folder.ts'
import { openForReading, openForWriting } from './database.ts'
import { migrate, schemaOf } from './migrate.ts'
import { makeInnerDirectory } from './synced-files.ts'

/** How far an upgrade is. */
export type UpgradeProgress =
  | ({ doing: 'backup' } & BackupProgress)
  /** The tables are being changed, within a transaction. */
  | { doing: 'tables' }

/** Absolute, because operators are told the path. */
export const upgradesFolder = (dataDir: string) => resolve(dataDir, 'backups')

/** The backup that is made of a database before it gets the schema after `schema`. */
const backupOf = (dataDir: string, schema: number) =>
  join(upgradesFolder(dataDir), `before-schema-${schema + 1}.db`)

/** All such backups of a data directory. */
export function upgradeBackups(dataDir: string): string[] {
  const folder = upgradesFolder(dataDir)
  if (!existsSync(folder)) return []
  const isOne = (name: string) => /^before-schema-\d+\.db$/.test(name)
  return readdirSync(folder)
    .filter(isOne)
    .map(name => join(folder, name))
}

/** The backup with which a release that knows a schema can go on; null if there is none. */
export function backupBefore(dataDir: string, schema: number): string | null {
  const file = backupOf(dataDir, schema)
  return existsSync(file) ? file : null
}

/**
 * Brings a database up to date that no other connection has open, after a backup of it.
 *
 * @returns the backup
 * @throws SchemaMismatch, BackupRefused
 */
export async function upgradeDatabase(
  dataDir: string,
  tell: (progress: UpgradeProgress) => void,
): Promise<{ backup: string }> {
  const backup = backupOf(dataDir, schemaIn(dataDir))
  makeInnerDirectory(upgradesFolder(dataDir))
  // From an earlier try: the database is as it was then, and may have more in it by now.
  await removeBackup(backup)
  await backUp(dataDir, backup, progress => tell({ doing: 'backup', ...progress }))
  using database = openForWriting(dataDir)
  migrate(database, () => tell({ doing: 'tables' }))
  try {
    // Otherwise the first commits of the server would wait for this. If it fails, the log is as good.
    database.run('pragma wal_checkpoint(truncate)')
  } catch {}
  return { backup }
}

function schemaIn(dataDir: string): number {
  using database = openForReading(dataDir)
  return schemaOf(database)
}
