/** Of a table's places this part is used at most: with linear probing, more would cost long walks. */
const fullest = 0.5

/**
 * The ids that stand in no run yet, by their hash: an open-addressing table over typed arrays, which
 * the garbage collector never looks into. What a transaction has added can be taken back.
 */
export class RecentIds {
  private highs: Uint32Array
  private lows: Uint32Array
  /** Row of the ledger; 0 where the place is free. */
  private seqs: Float64Array
  private mask: number
  /** Places taken since the last `keep`, in order. */
  private added: number[] = []
  private count = 0

  /** @param places a power of two */
  constructor(private readonly places: number) {
    this.mask = places - 1
    this.highs = new Uint32Array(places)
    this.lows = new Uint32Array(places)
    this.seqs = new Float64Array(places)
  }

  get size(): number {
    return this.count
  }

  /** The first row with this hash, from a place on; 0 where there is none. */
  find(high: number, low: number, isIt: (seq: number) => boolean): boolean {
    for (let at = low & this.mask; ; at = (at + 1) & this.mask) {
      const seq = this.seqs[at]!
      if (seq === 0) return false
      if (this.highs[at] === high && this.lows[at] === low && isIt(seq)) return true
    }
  }

  add(high: number, low: number, seq: number): void {
    if (this.count >= this.seqs.length * fullest) this.grow()
    this.added.push(this.put(high, low, seq))
  }

  /** How many were added since the last `keep`: to be handed to `takeBack`. */
  get mark(): number {
    return this.added.length
  }

  /** Takes back what was added after a mark; last in, first out, which keeps every walk whole. */
  takeBack(mark: number): void {
    while (this.added.length > mark) {
      this.seqs[this.added.pop()!] = 0
      this.count--
    }
  }

  /** What was added so far stays. */
  keep(): void {
    this.added.length = 0
  }

  clear(): void {
    if (this.seqs.length > this.places) {
      this.highs = new Uint32Array(this.places)
      this.lows = new Uint32Array(this.places)
      this.seqs = new Float64Array(this.places)
      this.mask = this.places - 1
    } else this.seqs.fill(0)
    this.added.length = 0
    this.count = 0
  }

  each(visit: (high: number, low: number, seq: number) => void): void {
    for (let at = 0; at < this.seqs.length; at++) {
      const seq = this.seqs[at]!
      if (seq !== 0) visit(this.highs[at]!, this.lows[at]!, seq)
    }
  }

  private put(high: number, low: number, seq: number): number {
    let at = low & this.mask
    while (this.seqs[at] !== 0) at = (at + 1) & this.mask
    this.highs[at] = high
    this.lows[at] = low
    this.seqs[at] = seq
    this.count++
    return at
  }

  private grow(): void {
    const { highs, lows, seqs, added } = this
    const places = seqs.length * 2
    this.highs = new Uint32Array(places)
    this.lows = new Uint32Array(places)
    this.seqs = new Float64Array(places)
    this.mask = places - 1
    this.count = 0
    // What may be taken back goes in last and in its order.
    const isNew = new Set(added)
    for (let at = 0; at < seqs.length; at++) {
      if (seqs[at] !== 0 && !isNew.has(at)) this.put(highs[at]!, lows[at]!, seqs[at]!)
    }
    this.added = added.map(at => this.put(highs[at]!, lows[at]!, seqs[at]!))
  }
}
