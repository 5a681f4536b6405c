import type { Arrival, Arrivals } from './arrivals.ts'

/** Rows that are looked at together. */
const pageRows = 64

/**
 * Deletes from a table what organisations that share a period have kept long enough. It goes through the
 * table once, in the order of arrival: to find what is due next costs a look at one row.
 */
export class Sweep {
  /** The last row that was passed. */
  private seq = 0

  constructor(
    private readonly table: Arrivals,
    private readonly periodMs: number,
    private readonly isConcerned: (orgRow: number) => boolean,
  ) {}

  /** Whether the next row can be passed; it may be another organisation's. */
  isDue(now: number): boolean {
    const [next] = this.table.after(this.seq, 1)
    return next !== undefined && !this.isYoung(next, now)
  }

  /** Deletes what is due, within a transaction and for as long as it may. */
  run(now: number, mayGoOn: () => boolean): void {
    for (;;) {
      const rows = this.table.after(this.seq, pageRows)
      for (const row of rows) {
        if (this.isYoung(row, now)) return
        if (row.receivedAt < now && this.isConcerned(row.orgRow)) this.table.delete(row)
        this.seq = row.seq
        if (!mayGoOn()) return
      }
      if (rows.length === 0) return
    }
  }

  /** A clock that ran ahead for a while stops nothing: what it has dated into the future waits for another start. */
  private isYoung({ receivedAt }: Arrival, now: number): boolean {
    return receivedAt >= now - this.periodMs && receivedAt <= now
  }
}
