import type { Database } from 'bun:sqlite'
import type { PastRun } from '../../core/run/past-run.ts'
import { TextHash } from '../hash-index/hash-index.ts'
import { SegmentReader } from '../hash-index/segment-reader.ts'

/** Of a person and a flow: nobody has more runs by themselves, and anybody can report any number. */
const mostRuns = 1_000

interface RunRow {
  flow_id: number
  run_key: string
  started_at: number
  completed_at: number | null
  dismissed_at: number | null
}

const columns = 'flow_id, run_key, started_at, completed_at, dismissed_at'

const pastRunOf = (row: RunRow): PastRun => ({
  key: row.run_key,
  startedAt: row.started_at,
  completedAt: row.completed_at,
  dismissedAt: row.dismissed_at,
})

function statements(database: Database) {
  return {
    state: database.query<{ value: number }, [string]>(
      'select value from server_state where name = ?',
    ),
    // By the row's number: any index would lead to all runs of the organisation.
    unsealed: database.query<RunRow, [number, number, string]>(
      `select ${columns} from runs not indexed
      where id > ? and org_id = ? and person = ? order by id desc`,
    ),
    byRow: database.query<RunRow, [number, number, number, string]>(
      `select ${columns} from runs where id = ? and org_id = ? and flow_id = ? and person = ?`,
    ),
  }
}

/**
 * The runs of a person, over a connection that only reads: what the storage thread has in memory of
 * its index is found by looking through the table's end, once for all flows.
 */
export class PastRunReader {
  private readonly sql: ReturnType<typeof statements>
  private readonly segments: SegmentReader
  private readonly hash: TextHash
  /**
   * By flow row, of those that were asked for; of one with more than a thousand the ones that were
   * stored last.
   *
   * @param person as `personOf` names them
   */
  readonly ofPerson: (
    orgRow: number,
    flowRows: readonly number[],
    person: string,
  ) => Map<number, PastRun[]>

  constructor(database: Database) {
    this.sql = statements(database)
    this.segments = new SegmentReader(database, 'runs_by_person')
    this.hash = new TextHash(this.state('row_index_seed_1'), this.state('row_index_seed_2'))
    // One snapshot: between two, what was not sealed might be.
    this.ofPerson = database.transaction((...asked: Parameters<PastRunReader['ofPerson']>) =>
      this.find(...asked),
    )
  }

  private find(
    orgRow: number,
    flowRows: readonly number[],
    person: string,
  ): Map<number, PastRun[]> {
    const found = new Map<number, PastRun[]>(flowRows.map(flowRow => [flowRow, []]))
    const take = (row: RunRow) => {
      const runs = found.get(row.flow_id)
      if (runs && runs.length < mostRuns) runs.push(pastRunOf(row))
    }
    for (const row of this.sql.unsealed.iterate(this.state('runs_sealed'), orgRow, person)) {
      take(row)
    }
    for (const [flowRow, runs] of found) {
      for (const row of this.sealedRows(flowRow, person)) {
        if (runs.length >= mostRuns) break
        const run = this.sql.byRow.get(row, orgRow, flowRow, person)
        if (run) take(run)
      }
      if (runs.length === 0) found.delete(flowRow)
    }
    return found
  }

  /** Rows that may be the person's, the newest first. */
  private sealedRows(flowRow: number, person: string): number[] {
    this.hash.of(flowRow, person)
    const rows = new Set(this.segments.rows(this.hash.high, this.hash.low))
    return [...rows].sort((a, b) => b - a)
  }

  private state(name: string): number {
    return this.sql.state.get(name)?.value ?? 0
  }
}
