import { fanOut, type SegmentPolicy, type Segments } from './segments.ts'

/**
 * A 64-bit hash of a text and a number beside it (an organisation, a flow), in two halves. It only says
 * where to look: the rows themselves decide whether they are meant, so the hash need not be proof against
 * attackers. It is still seeded by a secret of the database, so that nobody can make texts that all fall
 * into one place.
 *
 * The mixing is that of MurmurHash3's 32-bit finaliser (Appleby, public domain), over two lanes.
 */
export class TextHash {
  /** Of the last text that was hashed: chooses the chunk and the filter's block. */
  high = 0
  /** Of the last text that was hashed: chooses the filter's bits. */
  low = 0

  constructor(
    private readonly seedHigh: number,
    private readonly seedLow: number,
  ) {}

  /** Sets `high` and `low`, unsigned 32-bit each. Two fields, because a result object costs more than the hash. */
  of(scope: number, text: string): void {
    let high = this.seedHigh ^ Math.imul(scope, 0x9e3779b1)
    let low = this.seedLow ^ scope
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      high = Math.imul(high ^ unit, 0x9e3779b1)
      low = Math.imul(low ^ unit, 0x5f356495)
    }
    high = mixed(high ^ text.length)
    low = mixed(low ^ high)
    this.high = mixed(high ^ low) >>> 0
    this.low = low >>> 0
  }
}

function mixed(bits: number): number {
  let h = bits ^ (bits >>> 16)
  h = Math.imul(h, 0x85ebca6b)
  h ^= h >>> 13
  h = Math.imul(h, 0xc2b2ae35)
  return h ^ (h >>> 16)
}

/**
 * The entries that are in no segment yet: chains by hash over typed arrays, which the garbage collector
 * never looks into. What a transaction has added can be taken back.
 */
export class RecentEntries {
  /** The newest entry of each chain; 0 if there is none, so entries are counted from 1. */
  private heads: Uint32Array
  /** The entry that was added to the same chain before. */
  private nexts: Uint32Array
  private highs: Uint32Array
  private lows: Uint32Array
  private rows: Float64Array
  private count = 0
  private kept = 0

  /** @param room a power of two: entries it has room for before it grows */
  constructor(private readonly room: number) {
    this.heads = new Uint32Array(room)
    this.nexts = new Uint32Array(room + 1)
    this.highs = new Uint32Array(room + 1)
    this.lows = new Uint32Array(room + 1)
    this.rows = new Float64Array(room + 1)
  }

  get size(): number {
    return this.count
  }

  /** The newest row with this hash for which `isIt` is true; 0 if there is none. */
  find(high: number, low: number, isIt: (row: number) => boolean): number {
    for (let at = this.heads[low & (this.heads.length - 1)]!; at !== 0; at = this.nexts[at]!) {
      if (this.lows[at] !== low || this.highs[at] !== high) continue
      if (isIt(this.rows[at]!)) return this.rows[at]!
    }
    return 0
  }

  add(high: number, low: number, row: number): void {
    if (this.count === this.heads.length) this.grow()
    const at = ++this.count
    this.highs[at] = high
    this.lows[at] = low
    this.rows[at] = row
    this.chain(at)
  }

  /** How many were added since the last `keep`: to be handed to `takeBack`. */
  get mark(): number {
    return this.count - this.kept
  }

  /** Takes back what was added after a mark: last in, first out, so each is at the head of its chain. */
  takeBack(mark: number): void {
    for (; this.mark > mark; this.count--) {
      this.heads[this.lows[this.count]! & (this.heads.length - 1)] = this.nexts[this.count]!
    }
  }

  /** What was added so far stays. */
  keep(): void {
    this.kept = this.count
  }

  clear(): void {
    if (this.heads.length > this.room) this.resize(this.room)
    else this.heads.fill(0)
    this.count = 0
    this.kept = 0
  }

  each(visit: (high: number, low: number, row: number) => void): void {
    for (let at = 1; at <= this.count; at++) {
      visit(this.highs[at]!, this.lows[at]!, this.rows[at]!)
    }
  }

  private chain(at: number): void {
    const place = this.lows[at]! & (this.heads.length - 1)
    this.nexts[at] = this.heads[place]!
    this.heads[place] = at
  }

  private grow(): void {
    const { highs, lows, rows } = this
    this.resize(this.heads.length * 2)
    this.highs.set(highs)
    this.lows.set(lows)
    this.rows.set(rows)
    for (let at = 1; at <= this.count; at++) this.chain(at)
  }

  private resize(room: number): void {
    this.heads = new Uint32Array(room)
    this.nexts = new Uint32Array(room + 1)
    this.highs = new Uint32Array(room + 1)
    this.lows = new Uint32Array(room + 1)
    this.rows = new Float64Array(room + 1)
  }
}

export interface HashIndexPolicy extends SegmentPolicy {
  /** A merge moves one chunk of each of its segments per this many new entries. */
  entriesPerMergeStep: number
}

/** Chunks that are dropped in one transaction: one or two milliseconds of work. */
const chunksPerDrop = 16

/**
 * Finds the rows that a hash leads to. It is as fast for texts in no order as for ordered ones, which a
 * B-tree is not (at 20 million random texts a unique index takes a twentieth of the rate that it has for
 * ordered ones).
 *
 * The latest entries are in memory. All others are in segments on disk, behind filters that answer "surely
 * none" without a read. A hash may lead to several rows, and to rows that are gone, so the caller checks
 * each row itself. Everything is written in the caller's transaction, so that a crash cannot separate
 * entries and rows.
 */
export class HashIndex {
  private readonly recent: RecentEntries
  private newestAt = 0
  /** Whether the transaction under way has made a segment of all recent entries. */
  private hasSealed = false
  /** The entries added since the last chunk that was due, for the merge of each level. */
  private readonly entriesSinceStep = new Map<number, number>()

  /** @param segments null for an index that lives in memory alone */
  constructor(
    private readonly segments: Segments | null,
    private readonly policy: HashIndexPolicy,
  ) {
    this.recent = new RecentEntries(policy.entriesPerSegment * 2)
  }

  /** A row with this hash for which `isIt` holds, those in memory first; 0 if there is none. */
  find(high: number, low: number, isIt: (row: number) => boolean): number {
    return this.recent.find(high, low, isIt) || (this.segments?.find(high, low, isIt) ?? 0)
  }

  /** @param at when the row happened, epoch milliseconds */
  add(high: number, low: number, row: number, at: number): void {
    this.recent.add(high, low, row)
    if (at > this.newestAt) this.newestAt = at
  }

  /** How many entries the transaction has added. */
  get mark(): number {
    return this.recent.mark
  }

  /** Takes back what was added after a mark. */
  takeBack(mark: number): void {
    this.recent.takeBack(mark)
  }

  /** Whether it is time to seal. */
  get isFull(): boolean {
    return this.recent.size >= this.policy.entriesPerSegment
  }

  /** Whether it is time to seal what the very first start reads: as much as two merges gather. */
  get isHeaped(): boolean {
    return this.recent.size >= this.policy.entriesPerSegment * fanOut ** 2
  }

  /** Whether sealing at a stop saves the next start enough to be worth a segment. */
  get isWorthSealing(): boolean {
    return this.recent.size >= this.policy.entriesPerSegment / 8
  }

  /** Makes a segment of all entries that are in none. */
  seal(): void {
    if (this.recent.size === 0 || this.hasSealed) return
    this.segments?.seal(this.recent, this.newestAt)
    this.hasSealed = true
  }

  /** Moves merges on as far as they are due for what the transaction has added. */
  merge(): void {
    if (this.segments === null) return
    const added = this.recent.mark
    for (const level of this.segments.mergesDue()) {
      const waiting = (this.entriesSinceStep.get(level) ?? 0) + added
      const due = Math.floor(waiting / this.policy.entriesPerMergeStep)
      if (due > 0) this.segments.mergeStep(level, due)
      this.entriesSinceStep.set(level, waiting - due * this.policy.entriesPerMergeStep)
    }
  }

  /** Rows before this one are not asked for any more, so merges leave them out. */
  leaveOutBefore(row: number): void {
    this.segments?.leaveOutBefore(row)
  }

  /** Whether there is a segment all of whose rows happened before a moment, epoch milliseconds. */
  hasOlder(before: number): boolean {
    return this.segments?.hasOlder(before) ?? false
  }

  /** Drops some of what such segments hold, within a transaction. */
  dropOlder(before: number): void {
    this.segments?.dropOlder(before, chunksPerDrop)
  }

  committed(): void {
    if (this.hasSealed) this.recent.clear()
    this.hasSealed = false
    this.recent.keep()
    this.segments?.committed()
  }

  rolledBack(): void {
    this.hasSealed = false
    this.recent.takeBack(0)
    this.segments?.rolledBack()
  }

  /** Forgets the entries that are in no segment; they will be read again. */
  forgetRecent(): void {
    this.recent.clear()
  }
}
