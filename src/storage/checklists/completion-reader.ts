import type { Database } from 'bun:sqlite'
import { TextHash } from '../hash-index/hash-index.ts'
import { SegmentReader } from '../hash-index/segment-reader.ts'

type OfPerson = [orgRow: number, flowRow: number, person: string]

function statements(database: Database) {
  return {
    state: database.query<{ value: number }, [string]>(
      'select value from server_state where name = ?',
    ),
    unsealed: database.query<{ at: number | null }, [number, ...OfPerson]>(
      `select min(reported_at) as at from completions
      where id > ? and org_id = ? and flow_id = ? and person = ?`,
    ),
    byRow: database.query<{ at: number | null }, [number, ...OfPerson]>(
      `select reported_at as at from completions
      where id = ? and org_id = ? and flow_id = ? and person = ?`,
    ),
  }
}

/**
 * When a person was first reported to have completed a flow, over a connection that only reads: what
 * the storage thread has in memory of its index is found by looking through the table's end.
 */
export class CompletionReader {
  private readonly sql: ReturnType<typeof statements>
  private readonly segments: SegmentReader
  private readonly hash: TextHash
  readonly firstAt: (...ofPerson: OfPerson) => number | null

  constructor(database: Database) {
    this.sql = statements(database)
    this.segments = new SegmentReader(database, 'completions_by_person')
    this.hash = new TextHash(this.state('row_index_seed_1'), this.state('row_index_seed_2'))
    // One snapshot: between two, what was not sealed might be.
    this.firstAt = database.transaction((...ofPerson: OfPerson) => this.find(ofPerson))
  }

  private find(ofPerson: OfPerson): number | null {
    const [, flowRow, person] = ofPerson
    const unsealed = this.sql.unsealed.get(this.state('completions_sealed'), ...ofPerson)
    if (unsealed && unsealed.at !== null) return unsealed.at
    this.hash.of(flowRow, person)
    for (const row of this.segments.rows(this.hash.high, this.hash.low)) {
      const sealed = this.sql.byRow.get(row, ...ofPerson)
      if (sealed) return sealed.at
    }
    return null
  }

  private state(name: string): number {
    return this.sql.state.get(name)?.value ?? 0
  }
}
