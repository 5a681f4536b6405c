import type { Database } from 'bun:sqlite'
import {
  type Log,
  type LogBatch,
  LogInUse,
  type LogRow,
  NotInLog,
  type Page,
  type Position,
} from '../../log/log.ts'
import { hasDatabase, openForReading } from '../database/database.ts'
import { schemaOf } from '../database/migrate.ts'
import { stateIn } from '../database/server-state.ts'
import { NotOfThisLog } from './prepare-replica.ts'
import { batchesAfter, leaving, movingInto, positionIn, renameLog, setPosition } from './replica.ts'
import { type Row, rowText, sharedTables } from './shared-rows.ts'

/** How much a page holds. */
const pageBatches = 125
const pageRows = 1_000
const pageCharacters = 8 * 1024 ** 2

/** What was moved: rows by table, and events. */
export type Moved = ReadonlyMap<string, number>

/** How far a move is: rows of one table after the other. */
export interface MoveProgress {
  table: string
  done: number
  total: number
}

/**
 * Puts everything that a database holds into an empty log, which it follows from then on. If this is interrupted, no
 * server starts on either side until it is done again.
 *
 * @param now of this machine, epoch milliseconds
 * @param isOldLost whether the log that the database has followed so far is lost
 * @throws LogInUse, NotOfThisLog
 */
export async function moveIntoLog(
  database: Database,
  log: Log,
  now: number,
  tell: (progress: MoveProgress) => void,
  isOldLost = false,
): Promise<Moved> {
  const known = positionIn(database)
  const isBegun = known?.log === log.id || known?.log === movingInto(log.id)
  if (known !== null && !isBegun && !isOldLost) {
    throw new NotOfThisLog(
      'the directory already follows another database: detach it with "cairn move --back", or, if that database is lost, run "cairn move --database-lost"',
    )
  }
  if (!isBegun && (await log.newest()).seq !== 0) throw new LogInUse('The log is not empty')
  const to = placeIn(database, log, now)
  const moved = new Map<string, number>()
  const follow = () => setPosition(database).run(log.id, to.seq, to.mark, to.at)
  try {
    await log.fill(to, pagesOf(database, moved, tell))
  } catch (error) {
    // An earlier attempt may have been interrupted at its very end, or somebody else was faster.
    if (error instanceof LogInUse) {
      if (await isIn(log, to)) follow()
      else leaveLog(database)
    }
    throw error
  }
  follow()
  return moved
}

async function isIn(log: Log, position: Position): Promise<boolean> {
  try {
    await log.check(position)
    return true
  } catch (error) {
    if (error instanceof NotInLog) return false
    throw error
  }
}

/** The position that the database has in the log, as an earlier attempt has noted it. */
function placeIn(database: Database, log: Log, now: number): Position {
  const known = positionIn(database)
  if (known?.log === log.id || known?.log === movingInto(log.id)) return known
  const state = (name: string) => stateIn(database, name)
  const newest = database
    .query<{ seq: number; received_at: number }, []>(
      'select seq, received_at from event_batches order by seq desc limit 1',
    )
    .get()
  const seqs = ['ledger_deleted', 'projected'].map(state)
  const to = {
    seq: Math.max(1, known?.seq ?? 0, newest?.seq ?? 0, ...seqs),
    mark: crypto.randomUUID(),
    at: Math.max(known?.at ?? 0, newest?.received_at ?? 0, now),
  }
  setPosition(database).run(movingInto(log.id), to.seq, to.mark, to.at)
  return to
}

async function* pagesOf(
  database: Database,
  moved: Map<string, number>,
  tell: (progress: MoveProgress) => void,
): AsyncGenerator<Omit<Page, 'to'>> {
  const count = (table: string) =>
    database.query<{ rows: number }, []>(`select count(*) as rows from ${table}`).get()!.rows
  for (const { name, key, columns } of sharedTables(database)) {
    const total = count(name)
    const rows = database.query<Row, []>(`select ${columns.join(', ')} from ${name}`)
    let page: LogRow[] = []
    let characters = 0
    let done = 0
    for (const row of rows.iterate()) {
      const content = rowText(row)
      page.push({ table: name, key: JSON.stringify(key.map(column => row[column])), content })
      characters += content.length
      done++
      if (page.length < pageRows && characters < pageCharacters) continue
      yield { rows: page, batches: [] }
      tell({ table: name, done, total })
      page = []
      characters = 0
    }
    if (page.length > 0) yield { rows: page, batches: [] }
    moved.set(name, total)
  }
  const next = batchesAfter(database, pageBatches)
  const total = count('event_batches')
  let events = 0
  for (let after = 0, done = 0; ; ) {
    const batches: LogBatch[] = next.all(after)
    if (batches.length === 0) break
    yield { rows: [], batches }
    after = batches.at(-1)!.seq
    done += batches.length
    events += batches.reduce((sum, batch) => sum + batch.events, 0)
    tell({ table: 'events', done, total })
  }
  moved.set('events', events)
}

/**
 * Ends a log, whose data a database that is up to date then has alone. If this is interrupted, it can be done again.
 *
 * @param movedTo where the database is
 */
export async function moveOutOfLog(database: Database, log: Log, movedTo: string): Promise<void> {
  renameLog(database, leaving(log.id))
  await log.end(movedTo)
  leaveLog(database)
}

/** Whether such a move was interrupted, perhaps after the log's end. */
export function isLeaving(dataDir: string, log: string): boolean {
  if (!hasDatabase(dataDir)) return false
  const database = openForReading(dataDir)
  try {
    return schemaOf(database) > 0 && positionIn(database)?.log === leaving(log)
  } finally {
    database.close()
  }
}

function leaveLog(database: Database): void {
  database.run('delete from log_position')
}
