import type { Database } from 'bun:sqlite'
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { emptyLog } from '../../sqlite/database/compact.ts'
import { databaseFile, hasDatabase, openForWriting } from '../../sqlite/database/database.ts'
import { requireNoLostDatabase } from '../../sqlite/database/lost-database.ts'
import { prepareDatabase } from '../../sqlite/database/prepare.ts'
import {
  makeInnerDirectory,
  replaceSynced,
  syncDirectory,
  syncFile,
} from '../../sqlite/database/synced-files.ts'
import {
  EventBatches,
  EventIds,
  eventsPerBatch,
  OpenBatch,
} from '../../sqlite/engine/event-codec/event-batches.ts'
import { decodeFacts, encodeEvents } from '../../sqlite/engine/event-codec/event-text.ts'
import { RowIndex } from '../../sqlite/engine/hash-index/row-index.ts'
import { BatchFlows } from '../../sqlite/projections/pending-facts.ts'
import type { Queries } from '../database/connection.ts'
import { type EventRow, eventColumns, eventOf } from '../events/event-rows.ts'
import { keptFiles } from '../nodes/kept-files.ts'
import { type MovedTable, type Row, RowWriter } from '../rows/tables.ts'
import { keptNames } from './kept-names.ts'
import { differingCount, movedTables, rowsIn } from './moved-tables.ts'
import {
  type Counts,
  type MoveProgress,
  MoveRefused,
  type OwnDatabase,
  openForItself,
  requireNoMove,
  requireNoNode,
} from './moves.ts'

/** Rows that are read and written at once. */
const pageRows = 2_000

interface Target {
  dataDir: string
  /** Of the database, which has been migrated. */
  url: string
  now: () => number
}

/** Where a directory's database is until it is complete. */
export const movingDir = (dataDir: string) => join(dataDir, 'moving')

/**
 * Moves what a PostgreSQL database holds into a data directory. It reads everything as of one moment, into a
 * database beside its final place, where it goes once it is complete. So an interrupted move begins anew.
 */
export class MoveIntoDirectory {
  private constructor(
    private readonly target: Target,
    private readonly database: Database,
    private readonly own: OwnDatabase,
    /** The state of the PostgreSQL database when everything was read. */
    private asOf = '',
  ) {}

  /**
   * Begins a move into a directory without a database, which nobody else may use.
   *
   * @throws MoveRefused, DatabaseLost
   */
  static async open(target: Target): Promise<MoveIntoDirectory> {
    const { dataDir, url, now } = target
    if (hasDatabase(dataDir)) {
      throw new MoveRefused(
        `${dataDir} holds a database already: name a directory without one with --data`,
      )
    }
    requireNoLostDatabase(dataDir)
    const own = await openForItself(url)
    try {
      await requireNoMove(own.postgres)
      const directory = movingDir(dataDir)
      rmSync(directory, { recursive: true, force: true })
      makeInnerDirectory(directory)
      prepareDatabase(directory, now()).close()
      const database = openForWriting(directory)
      // If it is interrupted, the next move makes it anew; at the end all of it is synced.
      database.run('pragma synchronous = off')
      return new MoveIntoDirectory(target, database, own)
    } catch (error) {
      await own.close()
      throw error
    }
  }

  private get postgres() {
    return this.own.postgres
  }

  /** @returns how many rows each table has */
  async run(onProgress: (progress: MoveProgress) => void): Promise<Counts> {
    const tables = movedTables(this.database)
    const counts = await this.postgres.begin(async snapshot => {
      const counts = new Map<string, number>()
      for (const { name } of tables) counts.set(name, await rowsIn(snapshot, name))
      counts.set('events', await rowsIn(snapshot, 'events'))
      const total = counts.values().reduce((sum, count) => sum + count, 0)
      let done = 0
      const moved = (table: string) => (rows: number) => {
        done += rows
        onProgress({ table, done, total })
      }
      this.asOf = await signOf(snapshot)
      for (const table of tables) await this.takeRows(snapshot, table, moved(table.name))
      await this.takeState(snapshot)
      await this.takeEvents(snapshot, moved('events'))
      return counts
    }, 'isolation level repeatable read, read only')
    // Reads now what a start would otherwise have to read again: which runs and events there are.
    new RowIndex(this.database)
    new EventIds(this.database)
    return counts
  }

  /** What differs in number between the two sides; null if nothing does. */
  differingCount(): Promise<string | null> {
    return differingCount({ database: this.database, queries: this.postgres })
  }

  /**
   * Puts the database in its final place, with the files that nodes share.
   *
   * @throws MoveRefused if somebody has changed the PostgreSQL database meanwhile
   */
  async end(): Promise<void> {
    const { dataDir } = this.target
    await this.own.stillHeld()
    await requireNoNode(this.postgres)
    if ((await signOf(this.postgres)) !== this.asOf) {
      throw new MoveRefused(
        'a server ran on the database meanwhile: stop all of them, and begin anew',
      )
    }
    const files = [
      ...(await keptFiles(this.postgres, 'session.key')),
      ...(await keptFiles(this.postgres, 'snippet/')),
    ]
    // Whatever is in its log would be left behind.
    if (!emptyLog(this.database)) throw new Error('The log of the new database cannot be emptied')
    this.database.close()
    const made = databaseFile(movingDir(dataDir))
    syncFile(made)
    makeInnerDirectory(join(dataDir, 'snippet'))
    for (const { name, content } of files) {
      if (keptNames([name]).length === 0) continue
      replaceSynced(join(dataDir, name), new TextDecoder().decode(content))
    }
    renameSync(made, databaseFile(dataDir))
    rmSync(movingDir(dataDir), { recursive: true })
    syncDirectory(dataDir)
  }

  async close(): Promise<void> {
    this.database.close()
    await this.own.close()
  }

  private async takeRows(
    snapshot: Queries,
    table: MovedTable,
    moved: (rows: number) => void,
  ): Promise<void> {
    const { name, columns, key } = table
    const writer = new RowWriter(this.database, table)
    const put = this.database.transaction((rows: readonly Row[]) => {
      for (const row of rows) writer.put(row)
    })
    await snapshot.run(
      `declare rows no scroll cursor for
      select ${columns.join(', ')} from ${name} order by ${key.join(', ')}`,
    )
    for (;;) {
      const page = await snapshot.all<Row>(`fetch ${pageRows} from rows`)
      put(page)
      if (page.length > 0) moved(page.length)
      if (page.length < pageRows) break
    }
    await snapshot.run('close rows')
  }

  private async takeState(snapshot: Queries): Promise<void> {
    const name = 'erasures_changed'
    const row = await snapshot.get<{ value: number }>(
      'select value from server_state where name = $1',
      name,
    )
    this.setState(name, row?.value ?? 0)
  }

  private setState(name: string, value: number): void {
    this.database.run(
      `insert into server_state (name, value) values (?, ?)
      on conflict do update set value = excluded.value`,
      [name, value],
    )
  }

  /**
   * Takes events day by day, and within a day organisation by organisation, because the retention goes through the
   * rows of all of them in one order. Their numbers begin after all that events had before, so that a reader that
   * goes on from one of those gets all events again, and misses none.
   */
  private async takeEvents(snapshot: Queries, moved: (rows: number) => void): Promise<void> {
    const last = await snapshot.get<{ seq: number }>(
      'select coalesce(max(seq), 0) as seq from ledgers',
    )
    const ledger = new LedgerWriter(this.database, Math.floor(last!.seq / eventsPerBatch))
    this.setState('ledger_deleted', ledger.seq)
    for await (const { orgRow, events } of eventPages(snapshot)) {
      ledger.write(orgRow, events)
      moved(events.length)
    }
    this.setState('projected', ledger.seq)
  }
}

/** A sign that changes with whatever a server writes, because each of its transactions leaves a receipt. */
async function signOf(queries: Queries): Promise<string> {
  const row = await queries.get<{ sign: string }>(
    `select (select seq from catalogue_clock) || ' ' || (select coalesce(sum(seq), 0) from ledgers)
      || ' ' || (select coalesce(max(at)::text, '') from receipts) as sign`,
  )
  return row!.sign
}

/** Events in the order in which they are to be stored. */
async function* eventPages(
  queries: Queries,
): AsyncGenerator<{ orgRow: number; events: readonly EventRow[] }> {
  const parts = await queries.all<{ org_id: number; day: number; first: number; last: number }>(
    `select org_id, day, min(seq) as first, max(seq) as last from events
    group by org_id, day order by day, org_id`,
  )
  const daysOf = Map.groupBy(parts, ({ org_id }) => org_id)
  /** Around midnight an event may have come after one of the next day. It keeps that place in its organisation. */
  const readTo = new Map<number, number>()
  for (const { org_id: orgRow, last } of parts) {
    const after = readTo.get(orgRow) ?? -1
    if (last <= after) continue
    const days = daysOf
      .get(orgRow)!
      .filter(part => part.first <= last && part.last > after)
      .map(({ day }) => day)
    for (let from = after; ; ) {
      const events = await queries.all<EventRow>(
        `select ${eventColumns} from events
        where org_id = $1 and seq > $2 and seq <= $3 and day >= $4 and day <= $5
        order by events.seq limit ${pageRows}`,
        ...[orgRow, from, last, Math.min(...days), Math.max(...days)],
      )
      if (events.length > 0) yield { orgRow, events }
      if (events.length < pageRows) break
      from = events.at(-1)!.seq
    }
    readTo.set(orgRow, last)
  }
}

/** Writes SQLite's ledger, and which flows' events are where in it. */
class LedgerWriter {
  private readonly batches: EventBatches
  private readonly flows: BatchFlows
  private readonly writeAll

  /** @param seq the last row number that may not be used */
  constructor(
    database: Database,
    public seq: number,
  ) {
    this.batches = new EventBatches(database)
    this.flows = new BatchFlows(database)
    this.writeAll = database.transaction((batches: readonly OpenBatch[]) => {
      for (const batch of batches) this.batches.write(batch)
      this.flows.writeOwn()
    })
  }

  write(orgRow: number, rows: readonly EventRow[]): void {
    const batches: OpenBatch[] = []
    for (let from = 0; from < rows.length; ) {
      const { source, received_at: receivedAt } = rows[from]!
      let batch = batches.at(-1)
      if (!batch || batch.source !== source || batch.count === eventsPerBatch) {
        batch = new OpenBatch(++this.seq, orgRow, source)
        batches.push(batch)
      }
      const most = Math.min(rows.length, from + eventsPerBatch - batch.count)
      let end = from + 1
      while (end < most && rows[end]!.source === source && rows[end]!.received_at === receivedAt) {
        end++
      }
      const text = encodeEvents(rows.slice(from, end).map(eventOf))
      batch.add(text, receivedAt)
      this.flows.note(batch.seq, decodeFacts(text, orgRow, source))
      from = end
    }
    this.writeAll(batches)
    this.flows.commit()
  }
}
