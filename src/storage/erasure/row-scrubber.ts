import type { Database } from 'bun:sqlite'
import { TextHash } from '../hash-index/hash-index.ts'
import { SegmentScrubber } from '../hash-index/segment-scrubber.ts'
import type { IndexName } from '../hash-index/segments.ts'

/** A number of the database's own, such as a seed; 0 where there is none. */
export function stateIn(database: Database, name: string): number {
  return (
    database
      .query<{ value: number }, [string]>('select value from server_state where name = ?')
      .get(name)?.value ?? 0
  )
}

/** Takes rows out of the hash indexes of a table; see `RowIndex`. */
export class RowScrubber<Column extends string> {
  private readonly hash: TextHash
  private readonly indexes: readonly (readonly [Column, SegmentScrubber])[]

  constructor(database: Database, indexes: Readonly<Record<Column, IndexName>>) {
    const [seed1, seed2] = ['row_index_seed_1', 'row_index_seed_2']
    this.hash = new TextHash(stateIn(database, seed1!), stateIn(database, seed2!))
    const entries = Object.entries(indexes) as [Column, IndexName][]
    this.indexes = entries.map(([column, name]) => [column, new SegmentScrubber(database, name)])
  }

  /** @param texts of the indexed columns, as the row had them */
  forget(flowRow: number, texts: Readonly<Record<Column, string>>, row: number): void {
    for (const [column, index] of this.indexes) {
      this.hash.of(flowRow, texts[column])
      index.forget(this.hash.high, this.hash.low, row)
    }
  }
}
