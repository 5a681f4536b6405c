import { TextHash } from '../engine/hash-index/hash-index.ts'
import type { StoredRun } from './stored-run.ts'

/** A power of two. Six megabytes once they are all in use, and more than the runs that go on at a time. */
const places = 2 ** 19

/** The number of places that a run may have, a power of two. */
const ways = 4

/**
 * The rows and the owners of runs that were read or written lately, as hashes in typed arrays: far more
 * runs than can be kept whole. Of runs that share their places, the one that was kept last comes first, and
 * the last one is forgotten.
 *
 * A row only says where to look. Whoever looks there has to check whether it was deleted or is another run's.
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

  /** The row in which a run was last; 0 if that is not known. */
  rowOf(flowRow: number, key: string): number {
    const place = this.placeOf(flowRow, key)
    return place === null ? 0 : this.rows[place]!
  }

  /** Whether a run is known to be a person's; false says nothing about whose it is. */
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
