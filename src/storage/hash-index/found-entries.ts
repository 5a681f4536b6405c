/**
 * Entries that were lately found in segments, by hash: what is asked for again and again (a run that
 * goes on for days) is read from a chunk only once. A place holds the last that fell into it. It may
 * be out of date: a row is judged when it is found, here as everywhere.
 */
export class FoundEntries {
  private readonly highs: Uint32Array
  private readonly lows: Uint32Array
  private readonly rows: Float64Array

  /** @param places a power of two */
  constructor(private readonly places: number) {
    this.highs = new Uint32Array(places)
    this.lows = new Uint32Array(places)
    this.rows = new Float64Array(places)
  }

  /** The row with this hash, if it is the one; 0 where it is not known. */
  find(high: number, low: number, isIt: (row: number) => boolean): number {
    const at = low & (this.places - 1)
    const row = this.rows[at]!
    if (row === 0 || this.lows[at] !== low || this.highs[at] !== high) return 0
    return isIt(row) ? row : 0
  }

  put(high: number, low: number, row: number): void {
    const at = low & (this.places - 1)
    this.highs[at] = high
    this.lows[at] = low
    this.rows[at] = row
  }
}
