import type { Exposition, Labels } from './exposition.ts'

/**
 * A histogram within a row of counters: one a bucket, one for what lies beyond the last bound, and
 * the sum of all that was observed.
 */
export class Histogram {
  /** Counters that one takes. */
  readonly words: number

  /** @param bounds upper bounds of the buckets, inclusive, ascending */
  constructor(private readonly bounds: readonly number[]) {
    this.words = bounds.length + 2
  }

  observe(counters: Float64Array, at: number, value: number): void {
    const { bounds } = this
    let bucket = 0
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++
    ;(counters[at + bucket] as number) += 1
    ;(counters[at + bounds.length + 1] as number) += value
  }

  count(counters: Float64Array, at: number): number {
    return counters.subarray(at, at + this.bounds.length + 1).reduce((sum, n) => sum + n, 0)
  }

  render(page: Exposition, name: string, counters: Float64Array, at: number, labels: Labels = {}) {
    let below = 0
    for (const [i, bound] of this.bounds.entries()) {
      below += counters[at + i] as number
      page.sample(`${name}_bucket`, below, { ...labels, le: `${bound}` })
    }
    const total = below + (counters[at + this.bounds.length] as number)
    page.sample(`${name}_bucket`, total, { ...labels, le: '+Inf' })
    page.sample(`${name}_sum`, counters[at + this.bounds.length + 1] as number, labels)
    page.sample(`${name}_count`, total, labels)
  }
}
