import type { Database } from 'bun:sqlite'
import { unpackSteps } from '../runs/run-rows.ts'
import type { ColumnRun } from './run-columns-builder.ts'

/**
 * People as 64 bits that nobody outside can foresee. Two of a million people share theirs by
 * chance in one of thirty-seven million flows, and are then counted as one. Never 0, which stands for
 * nobody.
 */
export function personHash(database: Database): (person: string) => bigint {
  const state = database.query<{ value: number }, [string]>(
    'select value from server_state where name = ?',
  )
  const half = (name: string) => BigInt.asUintN(32, BigInt(state.get(name)?.value ?? 0))
  const seed = (half('people_seed_1') << 32n) | half('people_seed_2')
  return person => Bun.hash.xxHash64(person, seed) || 1n
}

interface Row {
  id: number
  person: string
  started_at: number
  last_at: number
  version: number
  completed_at: number | null
  dismissed_at: number | null
  steps: string
  items: string | null
  checklist: number
}

/** Rows that one statement reads: a millisecond's work or two. */
const pageRows = 256

type Cursor = [orgRow: number, flowRow: number, start: number, id: number, to: number]

function statements(database: Database) {
  return {
    hasTicks: database.query<{ found: number }, [number, number]>(
      'select 1 as found from progress where org_id = ? and flow_id = ? limit 1',
    ),
    page: database.query<Row, Cursor>(
      `select id, person, started_at, last_at, version, completed_at, dismissed_at, steps,
        null as items, 0 as checklist
      from runs
      where org_id = ?1 and flow_id = ?2 and (started_at, id) > (?3, ?4) and started_at < ?5
      order by started_at, id limit ${pageRows}`,
    ),
    pageWithTicks: database.query<Row, Cursor>(
      `select runs.id, runs.person, started_at, last_at, version, completed_at, dismissed_at, steps,
        items, checklist_at is not null as checklist
      from runs left join progress
        on progress.org_id = ?1 and progress.flow_id = ?2 and progress.person = runs.person
      where runs.org_id = ?1 and runs.flow_id = ?2
        and (started_at, runs.id) > (?3, ?4) and started_at < ?5
      order by started_at, runs.id limit ${pageRows}`,
    ),
  }
}

/** The rows of runs as they go into columns. */
export class RunPages {
  private readonly sql: ReturnType<typeof statements>
  private readonly hash: (person: string) => bigint

  constructor(database: Database) {
    this.sql = statements(database)
    this.hash = personHash(database)
  }

  /** Runs that started in [from, to), ascending by start; each page is a statement of its own. */
  *between(
    orgRow: number,
    flowRow: number,
    from: number,
    to: number,
  ): Generator<readonly ColumnRun[]> {
    const hasTicks = this.sql.hasTicks.get(orgRow, flowRow) !== null
    const statement = hasTicks ? this.sql.pageWithTicks : this.sql.page
    let last = { started_at: from, id: -1 }
    for (;;) {
      const rows = statement.all(orgRow, flowRow, last.started_at, last.id, to)
      if (rows.length > 0) {
        yield rows.map(row => ({
          startedAt: row.started_at,
          lastAt: row.last_at,
          person: this.hash(row.person),
          version: row.version,
          completedAt: row.completed_at,
          dismissedAt: row.dismissed_at,
          steps: unpackSteps(row.steps),
          items: row.items ? row.items.split(',').map(Number) : [],
          hasCompletedChecklist: row.checklist === 1,
        }))
      }
      if (rows.length < pageRows) return
      last = rows.at(-1)!
    }
  }
}
