import type { Database } from 'bun:sqlite'
import { ChunkBuilder, entriesIn } from './id-chunk.ts'
import { mayHave, wordsPerChunk } from './id-filter.ts'
import type { RecentIds } from './recent-ids.ts'

/** Runs of a level that are merged into one of the next: three more bits choose its chunks. */
const fanOut = 8
const fanOutBits = 3

/** One more than the greatest first half of a hash. */
const end = 2 ** 32

/** Chunk numbers have room for runs of 2^24 chunks, which is 68 billion ids. */
const chunksPerRun = 2 ** 24

/**
 * Many ids that were sealed together, cut into 2^bits chunks by the first bits of their hashes, with
 * a filter of each chunk in memory. It holds the hashes from `low` to below `high`: all of them,
 * but for a run that is being merged, whose chunks go over to its heir one by one.
 */
interface Run {
  id: number
  level: number
  bits: number
  low: number
  high: number
  newestAt: number
  filter: Uint32Array
}

interface RunRow {
  id: number
  level: number
  bits: number
  low: number
  high: number
  newest_at: number
}

function statements(database: Database) {
  return {
    runs: database.query<RunRow, []>(
      'select id, level, bits, low, high, newest_at from event_id_runs order by id',
    ),
    insertRun: database.query(
      'insert into event_id_runs (id, level, bits, low, high, newest_at) values (?, ?, ?, ?, ?, ?)',
    ),
    setRange: database.query('update event_id_runs set low = ?, high = ? where id = ?'),
    deleteRun: database.query('delete from event_id_runs where id = ?'),
    filters: database.query<{ place: number; filter: Uint8Array }, [number, number]>(
      'select place, filter from event_id_chunks where place >= ? and place < ?',
    ),
    entries: database.query<{ entries: Uint8Array }, [number]>(
      'select entries from event_id_chunks where place = ?',
    ),
    insertChunk: database.query(
      'insert into event_id_chunks (place, filter, entries) values (?, ?, ?)',
    ),
    deleteChunk: database.query('delete from event_id_chunks where place = ?'),
  }
}

const placeOf = (run: { id: number }, chunk: number) => run.id * chunksPerRun + chunk

const chunkOf = (high: number, bits: number) => (bits === 0 ? 0 : high >>> (32 - bits))

/**
 * The ids of the ledger but for the latest: a log-structured merge tree (O'Neil, Cheng, Gawlick and
 * O'Neil, 1996) whose runs are not sorted but cut by hash, so that merging needs no comparison.
 *
 * A question costs a cache line a run; the few that a filter cannot answer read one chunk.
 * Everything is written within the caller's transaction, and what memory knows follows at `committed`.
 */
export class IdRuns {
  private readonly sql: ReturnType<typeof statements>
  private runs: Run[]
  private nextId: number
  private afterCommit: (() => void)[] = []

  constructor(database: Database) {
    this.sql = statements(database)
    this.runs = this.sql.runs.all().map(row => this.loaded(row))
    this.nextId = Math.max(0, ...this.runs.map(({ id }) => id)) + 1
  }

  has(high: number, low: number, isIt: (seq: number) => boolean): boolean {
    for (const run of this.runs) {
      if (high < run.low || high >= run.high) continue
      if (!mayHave(run.filter, run.bits, high, low)) continue
      if (this.isInChunk(run, high, low, isIt)) return true
    }
    return false
  }

  /** Makes a run of the ids that are in none. */
  seal(recent: RecentIds, bits: number, newestAt: number): void {
    const chunks = Array.from({ length: 2 ** bits }, () => new ChunkBuilder())
    recent.each((high, low, seq) => chunks[chunkOf(high, bits)]!.add(high, low, seq))
    const run = this.begin({ level: 0, bits, newestAt }, end)
    for (const [i, chunk] of chunks.entries()) this.write(run, i, chunk)
    this.afterCommit.push(() => this.runs.push(run))
  }

  /** How many merges are under way or due: each wants `mergeStep` to be called until it is done. */
  mergesDue(): number[] {
    const levels = new Set(this.runs.map(({ level }) => level))
    return [...levels].filter(level => this.heirOf(level) || this.mergeable(level))
  }

  /**
   * Moves one chunk of the oldest runs of a level into their heir on the next. A step at a time, so
   * that no transaction is long; the chunks' space is free for the next step's.
   */
  mergeStep(level: number): void {
    const heir = this.heirOf(level) ?? this.beginHeir(level)
    const sources = this.sourcesOf(level, heir.high)
    const bits = sources[0]!.bits
    const from = chunkOf(heir.high, bits)
    const first = from * fanOut
    const chunks = Array.from({ length: fanOut }, () => new ChunkBuilder())
    for (const source of sources) {
      const { seqs, highs, lows } = this.entriesOf(source, from)
      for (let i = 0; i < seqs.length; i++) {
        const high = highs[i]!
        chunks[chunkOf(high, heir.bits) - first]!.add(high, lows[i]!, seqs[i]!)
      }
      this.sql.deleteChunk.run(placeOf(source, from))
    }
    for (const [i, chunk] of chunks.entries()) this.write(heir, first + i, chunk)
    const reached = (from + 1) * 2 ** (32 - bits)
    for (const source of sources) {
      if (reached === end) this.sql.deleteRun.run(source.id)
      else this.sql.setRange.run(reached, end, source.id)
    }
    this.sql.setRange.run(0, reached, heir.id)
    this.afterCommit.push(() => {
      heir.high = reached
      if (!this.runs.includes(heir)) this.runs.push(heir)
      for (const source of sources) source.low = reached
      if (reached === end) this.runs = this.runs.filter(run => !sources.includes(run))
    })
  }

  committed(): void {
    for (const follow of this.afterCommit) follow()
    this.afterCommit = []
  }

  rolledBack(): void {
    this.afterCommit = []
  }

  private loaded({ id, level, bits, low, high, newest_at }: RunRow): Run {
    const filter = new Uint32Array(2 ** bits * wordsPerChunk)
    const bytes = new Uint8Array(filter.buffer)
    for (const chunk of this.sql.filters.all(id * chunksPerRun, (id + 1) * chunksPerRun)) {
      bytes.set(chunk.filter, (chunk.place - id * chunksPerRun) * wordsPerChunk * 4)
    }
    return { id, level, bits, low, high, newestAt: newest_at, filter }
  }

  private isInChunk(run: Run, high: number, low: number, isIt: (seq: number) => boolean): boolean {
    const { seqs, highs, lows } = this.entriesOf(run, chunkOf(high, run.bits))
    for (let i = highs.indexOf(high); i !== -1; i = highs.indexOf(high, i + 1)) {
      if (lows[i] === low && isIt(seqs[i]!)) return true
    }
    return false
  }

  private entriesOf(run: Run, chunk: number) {
    const row = this.sql.entries.get(placeOf(run, chunk))
    if (!row) throw new Error(`Chunk ${chunk} of the ids' run ${run.id} is missing`)
    return entriesIn(row.entries)
  }

  private begin(of: Pick<Run, 'level' | 'bits' | 'newestAt'>, high: number): Run {
    const id = this.nextId++
    const filter = new Uint32Array(2 ** of.bits * wordsPerChunk)
    this.sql.insertRun.run(id, of.level, of.bits, 0, high, of.newestAt)
    return { id, ...of, low: 0, high, filter }
  }

  private write(run: Run, chunk: number, entries: ChunkBuilder): void {
    entries.addTo(run.filter, run.bits)
    const words = run.filter.subarray(chunk * wordsPerChunk, (chunk + 1) * wordsPerChunk)
    const filter = new Uint8Array(words.buffer, words.byteOffset, words.byteLength)
    this.sql.insertChunk.run(placeOf(run, chunk), filter, entries.bytes())
  }

  /** The run into which a level is being merged. */
  private heirOf(level: number): Run | undefined {
    return this.runs.find(run => run.level === level + 1 && run.high < end)
  }

  /** The oldest whole runs of a level, where there are enough for a merge. */
  private mergeable(level: number): Run[] | null {
    const whole = this.runs.filter(run => run.level === level && run.low === 0 && run.high === end)
    return whole.length < fanOut ? null : whole.slice(0, fanOut)
  }

  private sourcesOf(level: number, reached: number): Run[] {
    if (reached === 0) return this.mergeable(level)!
    return this.runs.filter(run => run.level === level && run.low === reached)
  }

  private beginHeir(level: number): Run {
    const sources = this.mergeable(level)!
    const newestAt = Math.max(...sources.map(run => run.newestAt))
    const bits = sources[0]!.bits + fanOutBits
    return this.begin({ level: level + 1, bits, newestAt }, 0)
  }
}
