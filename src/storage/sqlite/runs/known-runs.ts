import { TextHash } from '../engine/hash-index/hash-index.ts'
import type { StoredRun } from './stored-run.ts'

/** A power of two: six megabytes once they are all in use, and more runs than go on at a time. */
const places = 2 ** 19

/** Places that a run may have, a power of two. */
const ways = 4

/**
 * In which rows the runs stand that were read or written lately, and whose they are: far more of them
 * than can be kept whole, as hashes in typed arrays. Of those that share their places, the one that was
 * kept last comes first, and the last one is forgotten.
 *
 * A row is only where to look. That it was deleted, or is another run's, is for who looks there to see.
 */
export class KnownRuns {
  private readonly highs = new Uint32Array(places)
  private readonly owners = new Uint32Array(places)
  private readonly rows = new Uint32Array(places)
  private readonly hash: TextHash

  constructor() {
    const [high, low] = crypto.getRandomValues(new Uint32Array(2))
    this.hash = new TextHash(high!, low!)
  }

  keep({ id, flow_id, run_key, person }: StoredRun): void {
    const { highs, owners, rows } = this
    const owner = this.ownerHash(flow_id, person)
    const first = this.firstPlace(flow_id, run_key)
    const { high } = this.hash
    let last = first
    while (highs[last] !== high && last < first + ways - 1) last++
    for (let place = last; place > first; place--) {
      highs[place] = highs[place - 1]!
      owners[place] = owners[place - 1]!
      rows[place] = rows[place - 1]!
    }
    highs[first] = high
    owners[first] = owner
    rows[first] = id
  }

  /** The row in which a run stood last; 0 where it is not known. */
  rowOf(flowRow: number, key: string): number {
    const place = this.placeOf(flowRow, key)
    return place === null ? 0 : this.rows[place]!
  }

  /** Whether a run is known to be a person's; false says nothing. */
  isOf(flowRow: number, key: string, person: string): boolean {
    const owner = this.ownerHash(flowRow, person)
    const place = this.placeOf(flowRow, key)
    return place !== null && this.owners[place] === owner
  }

  clear(): void {
    this.highs.fill(0)
  }

  private ownerHash(flowRow: number, person: string): number {
    this.hash.of(flowRow, person)
    return this.hash.high
  }

  private firstPlace(flowRow: number, key: string): number {
    this.hash.of(flowRow, key)
    return this.hash.low & (places - ways)
  }

  private placeOf(flowRow: number, key: string): number | null {
    const { highs } = this
    const first = this.firstPlace(flowRow, key)
    const { high } = this.hash
    for (let place = first; place < first + ways; place++) {
      if (highs[place] === high) return place
    }
    return null
  }
}
