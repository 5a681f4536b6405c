import { Postgres } from '../storage/postgres/database/connection.ts'
import { inspectDatabase } from '../storage/postgres/database/inspection.ts'
import {
  migratePostgres,
  migrationsAfter,
  schemaVersion,
} from '../storage/postgres/database/migrate.ts'
import type { Flags } from './command.ts'
import { UsageFailure } from './failure.ts'
import { print, printColumns, printJson } from './output.ts'

type Options = Flags<never, 'dryRun' | 'onCopy' | 'json'> & { copy: boolean }

/** Makes the tables of the database that the settings name, or brings them up to date. */
export async function migrateDatabase(url: string, options: Options): Promise<void> {
  if (options.onCopy || !options.copy) {
    throw new UsageFailure(
      '--on-copy and --no-copy are about a data directory: the database that CAIRN_DATABASE_URL names is not copied',
    )
  }
  const { place, schema: from } = await inspectDatabase(url, Date.now, { isToMigrate: true })
  const due = migrationsAfter(from)
  if (due.length > 0 && !options.dryRun) await migrate(url)
  if (options.json) return printJson(asJson(from, due))
  if (due.length === 0) {
    const known =
      from === schemaVersion
        ? 'the newest of this release'
        : 'of a newer release that this one works with'
    return print(`nothing to do: the database at ${place} has schema ${from}, ${known}`)
  }
  const schema = options.dryRun
    ? `${from}, to become ${schemaVersion}`
    : `${schemaVersion}, from ${from}`
  printColumns([
    ['database', place],
    ...due.map(({ id, name }) => [`step ${id}`, name]),
    ['schema', schema],
  ])
}

async function migrate(url: string): Promise<void> {
  const postgres = Postgres.open(url, { most: 1 })
  try {
    await migratePostgres(postgres, Date.now())
  } finally {
    await postgres.close()
  }
}

/** As for a data directory, but what is about disks and copies is null. */
const asJson = (from: number, due: ReturnType<typeof migrationsAfter>) => ({
  from,
  to: Math.max(from, schemaVersion),
  steps: due.map(({ id, name }) => ({ id, name, seconds: null })),
  ...{ databaseBytes: null, wantedBytes: null, freeBytes: null, copy: null },
})
