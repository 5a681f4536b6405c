import { FoundEntries } from './found-entries.ts'
import { RecentEntries } from './recent-entries.ts'
import { fanOut, type SegmentPolicy, type Segments } from './segments.ts'

export interface HashIndexPolicy extends SegmentPolicy {
  /** A merge moves one chunk of each of its segments for so many entries that came in. */
  entriesPerMergeStep: number
}

const foundPlaces = 65_536

/** Chunks that are dropped in one transaction: a millisecond's work or two. */
const chunksPerDrop = 16

/**
 * Which rows a hash leads to: as fast for texts in no order as for ordered ones, which a B-tree is not
 * (at 20 million random texts a unique index takes a twentieth of the rate that ordered ones have).
 *
 * The latest entries are in memory; all others are in segments on disk, behind filters that answer
 * "surely none" without a read. A hash may lead to several rows, and to rows that are gone: the
 * caller judges each by the row itself. Everything is written in the caller's transaction, so a crash
 * cannot part entries and rows.
 */
export class HashIndex {
  private readonly recent: RecentEntries
  private found = new FoundEntries(foundPlaces)
  private newestAt = 0
  /** The transaction under way has made a segment of all recent entries. */
  private hasSealed = false
  /** Of each level's merge, since the last chunk that was due. */
  private readonly entriesSinceStep = new Map<number, number>()

  /** @param segments null for an index that lives in memory alone */
  constructor(
    private readonly segments: Segments | null,
    private readonly policy: HashIndexPolicy,
  ) {
    this.recent = new RecentEntries(policy.entriesPerSegment * 2)
  }

  /** A row with this hash that is the one, the newest first; 0 where there is none. */
  find(high: number, low: number, isIt: (row: number) => boolean): number {
    const recent = this.recent.find(high, low, isIt)
    if (recent !== 0 || this.segments === null) return recent
    const found = this.found.find(high, low, isIt)
    if (found !== 0) return found
    const sealed = this.segments.find(high, low, isIt)
    if (sealed !== 0) this.found.put(high, low, sealed)
    return sealed
  }

  /** @param at when the row happened, epoch milliseconds */
  add(high: number, low: number, row: number, at: number): void {
    this.recent.add(high, low, row)
    if (at > this.newestAt) this.newestAt = at
  }

  /** How many the transaction has added. */
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

  /** Whether it is time to seal what is read at the first start of all: as much as two merges gather. */
  get isHeaped(): boolean {
    return this.recent.size >= this.policy.entriesPerSegment * fanOut ** 2
  }

  /** Whether sealing at a stop spares the next start enough to be worth a segment. */
  get isWorthSealing(): boolean {
    return this.recent.size >= this.policy.entriesPerSegment / 8
  }

  /** Makes a segment of all that is in none. */
  seal(): void {
    if (this.recent.size === 0 || this.hasSealed) return
    this.segments?.seal(this.recent, this.newestAt)
    this.hasSealed = true
  }

  /** Moves merges on, as far as what the transaction has added makes it due. */
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

  /** Rows before this one are asked for no more: merges leave them out. */
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
    this.found = new FoundEntries(foundPlaces)
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

  /** Forgets what stands in no segment: it will be read again. */
  forgetRecent(): void {
    this.recent.clear()
  }
}
