import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { Analyst } from './analyst.ts'
import { Postgres } from './postgres.ts'
import { type Folder, rowsFile, startCairn } from './programs.ts'
import type { Tenant } from './seed.ts'

/** Counts what is stored after a program has ended, to compare it with what the program acknowledged. */

/** How many events Cairn has stored: counts them in an export from a new process. */
export async function storedByCairn(folder: Folder, tenants: readonly Tenant[]): Promise<number> {
  await using program = await startCairn(folder)
  let events = 0
  for (const tenant of tenants) {
    const analyst = await Analyst.of(program, tenant)
    for await (const rows of rowsOf(
      await analyst.ask('analytics/export.csv', { rows: 'events' }),
    )) {
      events += rows
    }
    // The first row is the header.
    events--
  }
  return events
}

/** How many rows end in each chunk of an answer. */
export async function* rowsOf({ body }: Response): AsyncGenerator<number> {
  for await (const chunk of body!) {
    let rows = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) rows++
    yield rows
  }
}

/** How many rows the floor has stored. */
export function storedByFloor(folder: Folder): number {
  const database = new Database(join(folder.path, rowsFile))
  try {
    return database.query<{ n: number }, []>('select count(*) as n from events').get()?.n ?? 0
  } finally {
    database.close()
  }
}

/** How many rows the table of events has in the PostgreSQL of a folder. */
export async function storedInPostgres(folder: Folder): Promise<number> {
  const postgres = await Postgres.start(folder)
  try {
    return Number(postgres.value('select count(*) from events'))
  } finally {
    await postgres.end()
  }
}
