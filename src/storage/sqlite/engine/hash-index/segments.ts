import type { Database } from 'bun:sqlite'
import { ChunkBuilder, entriesIn } from './chunk.ts'
import { mayHave, wordsPerChunk } from './filter.ts'
import type { RecentEntries } from './hash-index.ts'

/** Indexes that keep segments. Each has tables of its own, which a migration makes. */
export type IndexName = 'event_id' | 'runs_by_key'

export interface SegmentPolicy {
  /** Entries that make a segment. They are in memory until then, and read again at a start. */
  entriesPerSegment: number
  /** Bits of the hash that choose one of a new segment's chunks. */
  segmentBits: number
}

/**
 * How many segments of a level are merged into one of the next, whose chunks two more bits choose. Every
 * lookup asks every segment, and every entry is moved once per level: compared with eight, four has half
 * the segments, and half again as much to move, which is the lesser cost.
 */
export const fanOut = 4
const fanOutBits = 2

/** One more than the greatest first half of a hash. */
const end = 2 ** 32

/** Chunk numbers have room for segments of 2^24 chunks, which is 17 billion entries. */
const chunksPerSegment = 2 ** 24

/**
 * Many entries that were sealed together, cut into 2^bits chunks by the first bits of their hashes, with a
 * filter of each chunk in memory. It holds the hashes from `low` to below `high`: all of them, except in a
 * segment that is being merged, whose chunks move to its heir one by one.
 */
interface Segment {
  id: number
  level: number
  bits: number
  low: number
  high: number
  newestAt: number
  /** Null until it is first asked, so that a start need not wait for it. */
  filter: Uint32Array | null
}

interface SegmentRow {
  id: number
  level: number
  bits: number
  low: number
  high: number
  newest_at: number
}

function statements(database: Database, name: IndexName) {
  const [segments, chunks] = [`${name}_segments`, `${name}_chunks`]
  return {
    segments: database.query<SegmentRow, []>(
      `select id, level, bits, low, high, newest_at from ${segments} order by id`,
    ),
    insertSegment: database.query(
      `insert into ${segments} (id, level, bits, low, high, newest_at) values (?, ?, ?, ?, ?, ?)`,
    ),
    setRange: database.query(`update ${segments} set low = ?, high = ? where id = ?`),
    deleteSegment: database.query(`delete from ${segments} where id = ?`),
    filters: database.query<{ place: number; filter: Uint8Array }, [number, number]>(
      `select place, filter from ${chunks} where place >= ? and place < ?`,
    ),
    entries: database.query<{ entries: Uint8Array }, [number]>(
      `select entries from ${chunks} where place = ?`,
    ),
    insertChunk: database.query(`insert into ${chunks} (place, filter, entries) values (?, ?, ?)`),
    deleteChunk: database.query(`delete from ${chunks} where place = ?`),
  }
}

/** The place of a segment's chunk. */
export const placeOf = (segment: { id: number }, chunk: number) =>
  segment.id * chunksPerSegment + chunk

/** The chunk that a hash falls into. */
export const chunkOf = (high: number, bits: number) => (bits === 0 ? 0 : high >>> (32 - bits))

/**
 * The entries of an index except the latest: a log-structured merge tree (O'Neil, Cheng, Gawlick and
 * O'Neil, 1996) whose segments are not sorted but cut by hash, so that merging needs no comparison.
 *
 * A lookup costs one cache line per segment; the few that a filter cannot answer read one chunk. Everything
 * is written within the caller's transaction, and memory follows at `committed`.
 */
export class Segments {
  private readonly sql: ReturnType<typeof statements>
  private segments: Segment[]
  private nextId: number
  /** Builders are reused, because new arrays would keep the garbage collector busy. */
  private readonly builders: readonly ChunkBuilder[]
  private afterCommit: (() => void)[] = []
  /** Rows before this one are left out when segments are merged. */
  private leastRow = 0

  constructor(
    database: Database,
    name: IndexName,
    private readonly policy: SegmentPolicy,
  ) {
    this.sql = statements(database, name)
    this.segments = this.sql.segments
      .all()
      .map(({ newest_at, ...row }) => ({ ...row, newestAt: newest_at, filter: null }))
    const builders = Math.max(2 ** policy.segmentBits, fanOut)
    this.builders = Array.from({ length: builders }, () => new ChunkBuilder())
    this.nextId = Math.max(0, ...this.segments.map(({ id }) => id)) + 1
  }

  /** A row with this hash for which `isIt` is true; 0 if there is none. */
  find(high: number, low: number, isIt: (row: number) => boolean): number {
    for (const segment of this.segments) {
      if (high < segment.low || high >= segment.high) continue
      if (!mayHave(this.filterOf(segment), segment.bits, high, low)) continue
      const row = this.inChunk(segment, high, low, isIt)
      if (row !== 0) return row
    }
    return 0
  }

  /** Makes a segment of the entries that are in none. */
  seal(recent: RecentEntries, newestAt: number): void {
    const level = this.levelFor(recent.size)
    const bits = this.policy.segmentBits + level * fanOutBits
    const chunks = this.emptyChunks(2 ** bits)
    recent.each((high, low, row) => chunks[chunkOf(high, bits)]!.add(high, low, row))
    const segment = this.begin({ level, bits, newestAt }, end)
    for (const [i, chunk] of chunks.entries()) this.write(segment, i, chunk)
    this.afterCommit.push(() => this.segments.push(segment))
  }

  /** The levels at which a merge is under way or due: call `mergeStep` for each until it is done. */
  mergesDue(): number[] {
    const levels = new Set(this.segments.map(({ level }) => level))
    return [...levels].filter(level => this.heirOf(level) || this.mergeable(level))
  }

  /**
   * Moves some chunks of the oldest segments of a level into their heir on the next. Only a few at a time,
   * so that no transaction is long; the space of the chunks is free for those of the next step.
   *
   * @param most chunks of each segment; at least 1
   */
  mergeStep(level: number, most: number): void {
    const heir = this.heirOf(level) ?? this.beginHeir(level)
    const sources = this.sourcesOf(level, heir.high)
    const { bits } = sources[0]!
    const from = chunkOf(heir.high, bits)
    const to = Math.min(from + most, 2 ** bits)
    for (let chunk = from; chunk < to; chunk++) this.moveChunk(sources, heir, chunk)
    const reached = to * 2 ** (32 - bits)
    for (const source of sources) {
      if (reached === end) this.sql.deleteSegment.run(source.id)
      else this.sql.setRange.run(reached, end, source.id)
    }
    this.sql.setRange.run(0, reached, heir.id)
    this.afterCommit.push(() => {
      heir.high = reached
      if (!this.segments.includes(heir)) this.segments.push(heir)
      for (const source of sources) source.low = reached
      if (reached === end) {
        this.segments = this.segments.filter(segment => !sources.includes(segment))
      }
    })
  }

  leaveOutBefore(row: number): void {
    this.leastRow = row
  }

  /** Whether there is a whole segment that is older than a moment, epoch milliseconds. */
  hasOlder(before: number): boolean {
    return this.olderThan(before) !== undefined
  }

  /**
   * Drops the first chunks of a segment that is older than a moment. The rest of it holds fewer hashes,
   * like the rest of a segment that is being merged.
   *
   * @param most chunks; at least 1
   */
  dropOlder(before: number, most: number): void {
    const segment = this.olderThan(before)
    if (!segment) return
    const { bits } = segment
    const from = chunkOf(segment.low, bits)
    const to = Math.min(from + most, 2 ** bits)
    for (let chunk = from; chunk < to; chunk++) this.sql.deleteChunk.run(placeOf(segment, chunk))
    const reached = to * 2 ** (32 - bits)
    if (reached === end) this.sql.deleteSegment.run(segment.id)
    else this.sql.setRange.run(reached, end, segment.id)
    this.afterCommit.push(() => {
      segment.low = reached
      if (reached === end) this.segments = this.segments.filter(other => other !== segment)
    })
  }

  committed(): void {
    for (const follow of this.afterCommit) follow()
    this.afterCommit = []
  }

  rolledBack(): void {
    this.afterCommit = []
  }

  /** More entries than usual go to the level where as many are merged, so chunks and filters keep their size. */
  private levelFor(entries: number): number {
    let level = 0
    while (entries > this.policy.entriesPerSegment * 2 * fanOut ** level) level++
    return level
  }

  private emptyChunks(count: number): readonly ChunkBuilder[] {
    // Only the very first start makes more at once.
    if (count > this.builders.length) return Array.from({ length: count }, () => new ChunkBuilder())
    const chunks = this.builders.slice(0, count)
    for (const chunk of chunks) chunk.clear()
    return chunks
  }

  private moveChunk(sources: readonly Segment[], heir: Segment, chunk: number): void {
    const first = chunk * fanOut
    const chunks = this.emptyChunks(fanOut)
    for (const source of sources) {
      const { rows, highs, lows } = this.entriesOf(source, chunk)
      for (let i = 0; i < rows.length; i++) {
        if (rows[i]! < this.leastRow) continue
        const high = highs[i]!
        chunks[chunkOf(high, heir.bits) - first]!.add(high, lows[i]!, rows[i]!)
      }
      this.sql.deleteChunk.run(placeOf(source, chunk))
    }
    for (const [i, moved] of chunks.entries()) this.write(heir, first + i, moved)
  }

  private filterOf(segment: Segment): Uint32Array {
    segment.filter ??= this.loaded(segment)
    return segment.filter
  }

  private loaded({ id, bits }: Segment): Uint32Array {
    const filter = new Uint32Array(2 ** bits * wordsPerChunk)
    const bytes = new Uint8Array(filter.buffer)
    const first = placeOf({ id }, 0)
    for (const chunk of this.sql.filters.all(first, placeOf({ id: id + 1 }, 0))) {
      bytes.set(chunk.filter, (chunk.place - first) * wordsPerChunk * 4)
    }
    return filter
  }

  private inChunk(
    segment: Segment,
    high: number,
    low: number,
    isIt: (row: number) => boolean,
  ): number {
    const { rows, highs, lows } = this.entriesOf(segment, chunkOf(high, segment.bits))
    for (let i = highs.indexOf(high); i !== -1; i = highs.indexOf(high, i + 1)) {
      if (lows[i] === low && isIt(rows[i]!)) return rows[i]!
    }
    return 0
  }

  private entriesOf(segment: Segment, chunk: number) {
    const row = this.sql.entries.get(placeOf(segment, chunk))
    if (!row) throw new Error(`Chunk ${chunk} of the index's segment ${segment.id} is missing`)
    return entriesIn(row.entries)
  }

  private begin(of: Pick<Segment, 'level' | 'bits' | 'newestAt'>, high: number): Segment {
    const id = this.nextId++
    const filter = new Uint32Array(2 ** of.bits * wordsPerChunk)
    this.sql.insertSegment.run(id, of.level, of.bits, 0, high, of.newestAt)
    return { id, ...of, low: 0, high, filter }
  }

  private write(segment: Segment, chunk: number, entries: ChunkBuilder): void {
    const segmentFilter = this.filterOf(segment)
    entries.addTo(segmentFilter, segment.bits)
    const words = segmentFilter.subarray(chunk * wordsPerChunk, (chunk + 1) * wordsPerChunk)
    const filter = new Uint8Array(words.buffer, words.byteOffset, words.byteLength)
    this.sql.insertChunk.run(placeOf(segment, chunk), filter, entries.bytes())
  }

  /** The segment into which a level is being merged. */
  private heirOf(level: number): Segment | undefined {
    return this.segments.find(segment => segment.level === level + 1 && segment.high < end)
  }

  /** A segment to drop, but not one that is being merged, because that goes on in its heir. */
  private olderThan(before: number): Segment | undefined {
    return this.segments.find(
      segment =>
        segment.newestAt < before &&
        segment.high === end &&
        (segment.low === 0 || this.heirOf(segment.level)?.high !== segment.low),
    )
  }

  /** The oldest whole segments of a level, if there are enough for a merge. */
  private mergeable(level: number): Segment[] | null {
    const whole = this.segments.filter(
      segment => segment.level === level && segment.low === 0 && segment.high === end,
    )
    return whole.length < fanOut ? null : whole.slice(0, fanOut)
  }

  private sourcesOf(level: number, reached: number): Segment[] {
    if (reached === 0) return this.mergeable(level)!
    return this.segments.filter(segment => segment.level === level && segment.low === reached)
  }

  private beginHeir(level: number): Segment {
    const sources = this.mergeable(level)!
    const newestAt = Math.max(...sources.map(segment => segment.newestAt))
    const bits = sources[0]!.bits + fanOutBits
    return this.begin({ level: level + 1, bits, newestAt }, 0)
  }
}
