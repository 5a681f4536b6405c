import type { Database } from 'bun:sqlite'
import { stateIn } from '../../database/server-state.ts'
import { ChunkBuilder, entriesIn } from './chunk.ts'
import { addToFilter, wordsPerChunk } from './filter.ts'
import { TextHash } from './hash-index.ts'
import { chunkOf, type IndexName, placeOf } from './segments.ts'

/** The prefix of the names of an index's seeds. */
const seedsOf: Readonly<Record<IndexName, string>> = {
  event_id: 'event_ids_seed',
  runs_by_key: 'row_index_seed',
}

function statements(database: Database, name: IndexName) {
  return {
    segments: database.query<{ id: number; bits: number }, [number, number]>(
      `select id, bits from ${name}_segments where low <= ? and high > ?`,
    ),
    entries: database.query<{ entries: Uint8Array }, [number]>(
      `select entries from ${name}_chunks where place = ?`,
    ),
    update: database.query(`update ${name}_chunks set filter = ?, entries = ? where place = ?`),
  }
}

/**
 * Removes single entries from an index on disk, so that not even a hash tells what was there. Processes
 * that have the index open go on: their filters in memory only say "maybe" more often than they have to.
 */
export class SegmentScrubber {
  private readonly sql: ReturnType<typeof statements>
  private readonly hash: TextHash

  constructor(database: Database, name: IndexName) {
    this.sql = statements(database, name)
    const seeds = seedsOf[name]
    this.hash = new TextHash(stateIn(database, `${seeds}_1`), stateIn(database, `${seeds}_2`))
  }

  /** Removes the entry that leads from a text and the number beside it to a row, within a transaction. */
  forget(scope: number, text: string, row: number): void {
    this.hash.of(scope, text)
    const { high, low } = this.hash
    for (const { id, bits } of this.sql.segments.all(high, high)) {
      const place = placeOf({ id }, chunkOf(high, bits))
      const chunk = this.sql.entries.get(place)
      if (chunk) this.scrub(place, bits, entriesIn(chunk.entries), { high, low, row })
    }
  }

  private scrub(
    place: number,
    bits: number,
    { highs, lows, rows }: ReturnType<typeof entriesIn>,
    gone: { high: number; low: number; row: number },
  ): void {
    const left = new ChunkBuilder()
    const filter = new Uint32Array(wordsPerChunk)
    for (let i = 0; i < rows.length; i++) {
      const [high, low, row] = [highs[i]!, lows[i]!, rows[i]!]
      if (high === gone.high && low === gone.low && row === gone.row) continue
      left.add(high, low, row)
      // This is one chunk's filter, so the bits that chose the chunk are used up.
      addToFilter(filter, 0, (high << bits) >>> 0, low)
    }
    if (left.length === rows.length) return
    this.sql.update.run(new Uint8Array(filter.buffer), left.bytes(), place)
  }
}
