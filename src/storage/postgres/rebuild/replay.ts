import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '../../sqlite/database/migrate.ts'
import { isOfFlow } from '../../sqlite/engine/event-codec/event-text.ts'
import { factOf, type HistoryOf } from '../../sqlite/projections/facts.ts'
import { rebuiltTables, SideTables } from '../../sqlite/projections/rebuild.ts'
import type { Queries } from '../database/connection.ts'
import { pages } from '../database/pages.ts'
import { type EventRow, eventColumns, eventOf } from '../events/event-rows.ts'
import { stateTables } from '../projections/state.ts'
import { arrayOf } from '../rows/arrays.ts'
import { RowChanges } from '../rows/row-changes.ts'
import { type Row, type RowChange, RowWriter, tableOf } from '../rows/tables.ts'

/** Rows, and events, that are fetched at once. */
const pageRows = 5_000

/** The tables that a replay loads from PostgreSQL into its file. Owners of runs are not rebuilt. */
const loadedTables = [...rebuiltTables, 'run_owners']

/** Those of an organisation's flows of which anything is stored. For the others there is nothing to rebuild. */
export async function flowsWithRows(
  queries: Queries,
  orgRow: number,
  flowRows: readonly number[],
): Promise<Set<number>> {
  const isIn = (table: string) =>
    `exists (select from ${table} t where t.org_id = $1 and t.flow_id = f.id)`
  const found = await queries.all<{ id: number }>(
    `select f.id from unnest($2::text::bigint[]) as f (id)
    where ${['events', ...loadedTables].map(isIn).join(' or ')}`,
    orgRow,
    arrayOf(flowRows),
  )
  return new Set(found.map(({ id }) => id))
}

/**
 * Rebuilds a flow's projections with the same code as in a server alone, in a temporary file. Its tables hold
 * what PostgreSQL has of the flow, and side tables hold what the flow's events come to.
 */
export class Replay {
  private readonly folder = mkdtempSync(join(tmpdir(), 'cairn-rebuild-'))
  private readonly database: Database
  private readonly writers
  private sides: SideTables | null = null
  private changes: RowChanges | null = null

  constructor(private readonly historyOf: HistoryOf) {
    this.database = new Database(join(this.folder, 'replay.db'), { strict: true })
    // A file only because it may not fit into memory: nothing of it outlives the process.
    for (const pragma of ['synchronous = off', 'journal_mode = memory', 'temp_store = file']) {
      this.database.run(`pragma ${pragma}`)
    }
    migrate(this.database, 0)
    this.writers = loadedTables.map(name => ({
      name,
      writer: new RowWriter(this.database, tableOf(this.database, name)),
    }))
  }

  /**
   * Replays a flow, within a transaction in which it does not change.
   *
   * @param notesChanges whether `takeOver` follows
   * @returns how many events were replayed
   */
  async replay(
    queries: Queries,
    orgRow: number,
    flowRow: number,
    notesChanges = false,
  ): Promise<number> {
    // While there are side tables, table names without a schema would mean those.
    this.sides?.drop()
    await this.load(queries, orgRow, flowRow)
    if (notesChanges) this.changes = new RowChanges(this.database, stateTables(this.database))
    this.sides = new SideTables(this.database, this.historyOf)
    const deleted = await queries.get<{ last_at: number }>(
      'select last_at from deleted_events where org_id = $1 and flow_id = $2',
      ...[orgRow, flowRow],
    )
    this.sides.begin(orgRow, flowRow, deleted?.last_at ?? null)
    const next = ({ seq }: { seq: number }) =>
      queries.all<EventRow>(
        `select ${eventColumns} from events
        where org_id = $1 and flow_id = $2 and seq > $3 order by events.seq limit ${pageRows}`,
        ...[orgRow, flowRow, seq],
      )
    let events = 0
    for await (const page of pages(next, { seq: 0 }, pageRows)) {
      const facts = page.map(row => factOf(orgRow, eventOf(row))).filter(isOfFlow)
      events += facts.length
      this.sides.project(facts)
    }
    return events
  }

  /** Whether PostgreSQL has what was rebuilt. */
  isRight(orgRow: number, flowRow: number): boolean {
    return this.sides!.isRight(orgRow, flowRow)
  }

  /** The rows that have to change in PostgreSQL. */
  takeOver(orgRow: number, flowRow: number): RowChange[] {
    this.sides!.takeOver(orgRow, flowRow)
    this.sides!.drop()
    this.sides = null
    // The stored rows are wrong, so they are replaced and not joined with the right ones.
    return this.changes!.take().map(change => ({
      ...change,
      table: { ...change.table, joined: {} },
    }))
  }

  close(): void {
    this.database.close()
    rmSync(this.folder, { recursive: true })
  }

  private async load(queries: Queries, orgRow: number, flowRow: number): Promise<void> {
    for (const { name, writer } of this.writers) {
      this.database.run(`delete from ${name}`)
      await queries.run(
        `declare rows no scroll cursor for
        select * from ${name} where org_id = $1 and flow_id = $2`,
        ...[orgRow, flowRow],
      )
      for (let isMore = true; isMore; ) {
        const page = await queries.all<Row>(`fetch ${pageRows} from rows`)
        this.database.transaction(() => {
          for (const row of page) writer.put(row)
        })()
        isMore = page.length === pageRows
      }
      await queries.run('close rows')
    }
  }
}
