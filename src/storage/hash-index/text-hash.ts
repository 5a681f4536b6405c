/**
 * Sixty-four bits of a text and a number beside it (an organisation, a flow), in two halves. They only
 * say where to look: rows themselves decide whether they are meant, so a hash need not be proof
 * against attackers. It is seeded by a secret of the database all the same, so that nobody can make
 * texts that all fall into one place.
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
