/**
 * The entries that stand in no segment yet: chains by hash over typed arrays, which the garbage
 * collector never looks into. What a transaction has added can be taken back.
 */
export class RecentEntries {
  /** The newest entry of each chain; 0 where there is none, so that entries count from 1. */
  private heads: Uint32Array
  /** The entry of the same chain that was added before. */
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

  /** The newest row with this hash that is the one; 0 where there is none. */
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

  /** Takes back what was added after a mark: last in, first out, and so each from its chain's head. */
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
