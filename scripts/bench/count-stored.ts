import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { Analyst } from './analyst.ts'
import { type Folder, startCairn } from './programs.ts'
import type { Tenant } from './seed.ts'

/** What is stored once a program has ended, to hold against what it has acknowledged. */

/**
 * How many events of events.lua Cairn has stored: a new process is asked. Each of them is one that
 * analytics count once: a start, a view or a completion of a step, or a completion.
 */
export async function storedByCairn(folder: Folder, tenants: readonly Tenant[]): Promise<number> {
  await using program = await startCairn(folder)
  let events = 0
  for (const tenant of tenants) {
    const counts = await (await Analyst.of(program, tenant)).counts()
    events += counts.starts + counts.reached + counts.completed + counts.completions
  }
  return events
}

/** How many rows the floor has stored. */
export function storedByFloor(folder: Folder): number {
  const database = new Database(join(folder.path, 'floor.db'))
  try {
    return database.query<{ n: number }, []>('select count(*) as n from events').get()?.n ?? 0
  } finally {
    database.close()
  }
}
