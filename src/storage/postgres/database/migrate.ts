import { mayAnswer } from '../nodes/nodes.ts'
import { type Postgres, type Queries, sqlStateOf } from './connection.ts'
import { type Migration, migrations, schemaVersion } from './migrations.ts'

export { schemaVersion }

/** The migrations that a database of this schema lacks. */
export const migrationsAfter = (schema: number): readonly { id: number; name: string }[] =>
  migrations.filter(({ id }) => id > schema)

/** The database was left as it was. The message is for the operator. */
export class MigrationRefused extends Error {
  override readonly name = 'MigrationRefused'
}

/** How long a step waits for a lock on a table. Everyone who comes after it waits as well. */
const lockTimeout = '5s'

/** Lets only one process migrate at a time. Any number that nothing else locks. */
const lock = 0x6361_6972

/** The schema that a database has; 0 for one that is not Cairn's yet. */
export async function schemaOf(postgres: Queries): Promise<number> {
  const { isThere } = (await postgres.get<{ isThere: boolean }>(
    `select to_regclass('cairn_migrations') is not null as "isThere"`,
  ))!
  if (!isThere) return 0
  const row = await postgres.get<{ id: number }>('select max(id) as id from cairn_migrations')
  return row?.id ?? 0
}

/**
 * Whether this release can work with a database that a newer one has migrated.
 *
 * @param schema of the database
 */
export async function isUsable(postgres: Queries, schema: number): Promise<boolean> {
  if (schema <= schemaVersion) return schema === schemaVersion
  const row = await postgres.get<{ from: number }>(
    'select max(usable_from) as from from cairn_migrations',
  )
  return row!.from <= schemaVersion
}

/** The tables that the migrations create. */
const ownTables = migrations.flatMap(({ text }) =>
  [...text.matchAll(/^create (?:unlogged )?table (\w+)/gm)].map(([, name]) => name!),
)

/** Tables with names of Cairn's where its own would go: somebody else's, in a database that is not Cairn's yet. */
export async function foreignTables(postgres: Queries): Promise<string[]> {
  const rows = await postgres.all<{ name: string }>(
    `select c.relname as name from pg_class as c
    join json_array_elements_text($1::text::json) as own (name) on own.name = c.relname
    where c.relnamespace = to_regnamespace(quote_ident(current_schema())) order by 1`,
    JSON.stringify(ownTables),
  )
  return rows.map(({ name }) => name)
}

/**
 * Brings a database to this release's schema, completely or not at all.
 *
 * @returns the names of the migrations that it has applied
 * @throws MigrationRefused while a node is running that could not go on, or somebody holds a lock on a table
 */
export async function migratePostgres(
  postgres: Postgres,
  now: number,
  steps = migrations,
): Promise<string[]> {
  try {
    return await postgres.begin(transaction => migrate(transaction, now, steps))
  } catch (error) {
    if (sqlStateOf(error) !== '55P03') throw error
    throw new MigrationRefused(
      `somebody has held a table for ${lockTimeout}, and nothing was changed: run this again, or look what holds it in pg_stat_activity`,
      { cause: error },
    )
  }
}

async function migrate(
  transaction: Queries,
  now: number,
  steps: readonly Migration[],
): Promise<string[]> {
  await transaction.all('select pg_advisory_xact_lock($1)', lock)
  await transaction.script(`set local lock_timeout = '${lockTimeout}'`)
  const before = await schemaOf(transaction)
  const missing = steps.filter(({ id }) => id > before)
  if (before === 0) {
    await transaction.script(
      `create table cairn_migrations (
        id bigint primary key, name text not null, applied_at bigint not null,
        -- The oldest schema whose release can go on with the database after it.
        usable_from bigint not null
      )`,
    )
  } else await requireNobodyOlder(transaction, missing)
  for (const { id, name, text, usableFrom } of missing) {
    await transaction.script(text)
    await transaction.run(
      'insert into cairn_migrations values ($1, $2, $3, $4)',
      ...[id, name, now, usableFrom],
    )
  }
  return missing.map(({ name }) => name)
}

/** @throws MigrationRefused while a node is running that could not go on with the database after a step */
async function requireNobodyOlder(
  transaction: Queries,
  missing: readonly Migration[],
): Promise<void> {
  const usableFrom = Math.max(...missing.map(step => step.usableFrom), 0)
  const known = await transaction.get<{ from: number }>(
    'select max(usable_from) as from from cairn_migrations',
  )
  if (usableFrom <= known!.from) return
  // A node that joins meanwhile waits, and then sees the new schema.
  await transaction.run('lock table nodes in share row exclusive mode')
  const older = await transaction.all<{ name: string; release: string }>(
    `select name, release from nodes where schema < $1 and ${mayAnswer} order by name, id`,
    usableFrom,
  )
  if (older.length === 0) return
  const names = older.map(({ name, release }) => `${name} (${release})`).join(', ')
  throw new MigrationRefused(
    `nodes of an older release are running, which could not go on: ${names}; stop them, wait a minute and run this again, nothing was changed`,
  )
}
