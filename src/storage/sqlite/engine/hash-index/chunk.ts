import { addToFilter } from './filter.ts'

/** Entries side by side: rows, and the halves of the hashes that lead to them. */
export interface Entries {
  rows: Float64Array
  highs: Uint32Array
  lows: Uint32Array
}

const bytesPerEntry = 16

/** Entries gathered in no order, because a chunk is small enough to be looked through. */
export class ChunkBuilder {
  private rows = new Float64Array(64)
  private highs = new Uint32Array(64)
  private lows = new Uint32Array(64)
  length = 0

  clear(): void {
    this.length = 0
  }

  add(high: number, low: number, row: number): void {
    if (this.length === this.rows.length) this.grow()
    this.rows[this.length] = row
    this.highs[this.length] = high
    this.lows[this.length] = low
    this.length++
  }

  /** The stored form: all rows, then all first halves, then all second halves; little-endian. */
  bytes(): Uint8Array {
    const { length } = this
    const bytes = new Uint8Array(length * bytesPerEntry)
    new Float64Array(bytes.buffer, 0, length).set(this.rows.subarray(0, length))
    new Uint32Array(bytes.buffer, length * 8, length).set(this.highs.subarray(0, length))
    new Uint32Array(bytes.buffer, length * 12, length).set(this.lows.subarray(0, length))
    return bytes
  }

  addTo(filter: Uint32Array, bits: number): void {
    for (let i = 0; i < this.length; i++) addToFilter(filter, bits, this.highs[i]!, this.lows[i]!)
  }

  private grow(): void {
    const wider = <T extends Float64Array | Uint32Array>(from: T, to: T): T => {
      to.set(from)
      return to
    }
    const length = this.length * 2
    this.rows = wider(this.rows, new Float64Array(length))
    this.highs = wider(this.highs, new Uint32Array(length))
    this.lows = wider(this.lows, new Uint32Array(length))
  }
}

export function entriesIn(bytes: Uint8Array): Entries {
  // A view must begin at a multiple of its elements' size.
  const { buffer, byteOffset } = bytes.byteOffset % 8 === 0 ? bytes : bytes.slice()
  const length = bytes.byteLength / bytesPerEntry
  return {
    rows: new Float64Array(buffer, byteOffset, length),
    highs: new Uint32Array(buffer, byteOffset + length * 8, length),
    lows: new Uint32Array(buffer, byteOffset + length * 12, length),
  }
}
