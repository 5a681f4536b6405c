import { zeros } from '../core/number/statistics.ts'

/** What is counted per organisation: requests, those over a limit (429), events by their verdict. */
export const columns = ['requests', 'limited', 'accepted', 'duplicates', 'rejected'] as const

export type Counts = Record<(typeof columns)[number], number>

export const nothing: Readonly<Counts> = zeros(columns)

export function addTo(sums: Counts, counts: Partial<Counts>): void {
  for (const column of columns) sums[column] += counts[column] ?? 0
}

/** After this long without a read nobody watches any more, milliseconds. */
const watchedForMs = 10_000

/** The most organisations reported for each column: those with the highest counts. */
const mostTold = 100

/**
 * Counts by organisation within one thread, only while somebody watches (the dashboard's server page).
 * Metrics must not have a label that grows with the organisations, and requests should not pay for a table
 * that nobody reads.
 */
export class Tally<Key extends string | number> {
  private readonly sums = new Map<Key, Counts>()
  /** Whether counts are wanted; checked before a count is put together. */
  isWatched = false
  private watchedUntil = 0

  constructor(private readonly now: () => number) {}

  add(key: Key, counts: Partial<Counts>): void {
    if (this.now() > this.watchedUntil) {
      this.isWatched = false
      this.sums.clear()
      return
    }
    const sums = this.sums.get(key) ?? { ...nothing }
    addTo(sums, counts)
    this.sums.set(key, sums)
  }

  /** What was counted since somebody began to watch. Reading it counts as watching on. */
  read(): [Key, Counts][] {
    this.isWatched = true
    this.watchedUntil = this.now() + watchedForMs
    const rows = [...this.sums]
    if (rows.length <= mostTold) return rows
    const most = columns.flatMap(column =>
      rows.toSorted(([, a], [, b]) => b[column] - a[column]).slice(0, mostTold),
    )
    return [...new Set(most)]
  }
}
