import type { Database } from 'bun:sqlite'
import { entriesIn } from './chunk.ts'
import { mayHave } from './filter.ts'
import { chunkOf, type IndexName, placeOf } from './segments.ts'

function statements(database: Database, name: IndexName) {
  return {
    segments: database.query<{ id: number; bits: number }, [number, number]>(
      `select id, bits from ${name}_segments where low <= ? and high > ? order by id`,
    ),
    filter: database.query<{ filter: Uint8Array }, [number]>(
      `select filter from ${name}_chunks where place = ?`,
    ),
    entries: database.query<{ entries: Uint8Array }, [number]>(
      `select entries from ${name}_chunks where place = ?`,
    ),
  }
}

/**
 * What a connection that only reads can know of an index: its segments, from disk alone. What is not
 * sealed yet it must look for in the table, in one transaction with this.
 */
export class SegmentReader {
  private readonly sql: ReturnType<typeof statements>

  constructor(database: Database, name: IndexName) {
    this.sql = statements(database, name)
  }

  /** Rows that a hash may lead to. */
  *rows(high: number, low: number): Generator<number> {
    for (const { id, bits } of this.sql.segments.all(high, high)) {
      const place = placeOf({ id }, chunkOf(high, bits))
      if (!this.mayHave(place, bits, high, low)) continue
      const found = this.sql.entries.get(place)
      if (!found) continue
      const { rows, highs, lows } = entriesIn(found.entries)
      for (let i = highs.indexOf(high); i !== -1; i = highs.indexOf(high, i + 1)) {
        if (lows[i] === low) yield rows[i]!
      }
    }
  }

  private mayHave(place: number, bits: number, high: number, low: number): boolean {
    const bytes = this.sql.filter.get(place)?.filter
    if (!bytes) return false
    // A view must begin at a multiple of its elements' size.
    const { buffer, byteOffset, byteLength } = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice()
    // One chunk's filter: the bits that chose the chunk are used up.
    return mayHave(
      new Uint32Array(buffer, byteOffset, byteLength / 4),
      0,
      (high << bits) >>> 0,
      low,
    )
  }
}
