import type { Database } from 'bun:sqlite'
import { TextHash } from '../hash-index/hash-index.ts'
import { type IndexedTable, RowIndex } from '../hash-index/row-index.ts'
import { SegmentReader } from '../hash-index/segment-reader.ts'

interface Completion {
  id: number
  flow_id: number
  person: string
  reported_at: number
}

/** What is in no segment every reader looks through, so there is less of it than of other tables. */
export const completionsPolicy = {
  entriesPerSegment: 8_192,
  segmentBits: 3,
  entriesPerMergeStep: 1_024,
}

export const indexedCompletions: IndexedTable = {
  name: 'completions',
  columns: { person: 'completions_by_person' },
  time: 'reported_at',
}

function statements(database: Database) {
  return {
    completion: database.query<Completion, [number, number]>(
      `select id, flow_id, person, reported_at from completions where id = ? and org_id = ?`,
    ),
    insert: database.query(
      `insert into completions (id, org_id, flow_id, person, reported_at) values (?, ?, ?, ?, ?)`,
    ),
    setReported: database.query(
      'update completions set reported_at = ? where id = ? and org_id = ?',
    ),
  }
}

/** When each person was first reported to have completed a flow, as the storage thread knows it. */
export class CompletionTable {
  private readonly sql: ReturnType<typeof statements>

  constructor(
    database: Database,
    readonly index = new RowIndex(database, indexedCompletions, completionsPolicy),
  ) {
    this.sql = statements(database)
  }

  /** The earliest report; null where there is none. */
  firstAt(orgRow: number, flowRow: number, person: string): number | null {
    return this.get(orgRow, flowRow, person)?.reported_at ?? null
  }

  /** Notes a report; the earliest stands. */
  add(orgRow: number, flowRow: number, person: string, at: number): void {
    const known = this.get(orgRow, flowRow, person)
    if (!known) {
      const row = this.index.add(flowRow, [person], at)
      this.sql.insert.run(row, orgRow, flowRow, person, at)
    } else if (at < known.reported_at) this.sql.setReported.run(at, known.id, orgRow)
  }

  private get(orgRow: number, flowRow: number, person: string): Completion | null {
    let found: Completion | null = null
    const isIt = (row: number) => {
      const known = this.sql.completion.get(row, orgRow)
      if (known?.person !== person || known.flow_id !== flowRow) return false
      found = known
      return true
    }
    this.index.find(0, flowRow, person, isIt)
    return found
  }
}

type OfPerson = [orgRow: number, flowRow: number, person: string]

function readerStatements(database: Database) {
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
  private readonly sql: ReturnType<typeof readerStatements>
  private readonly segments: SegmentReader
  private readonly hash: TextHash
  readonly firstAt: (...ofPerson: OfPerson) => number | null

  constructor(database: Database) {
    this.sql = readerStatements(database)
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
