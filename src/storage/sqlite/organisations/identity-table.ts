import type { Database } from 'bun:sqlite'
import {
  noUserHashes,
  type UserHashCounts,
  userHashVerdicts,
} from '../../../core/organisation/verified-identity.ts'
import { hourMs } from '../../../core/time/durations.ts'
import type { IdentityBoard } from '../../shared/boards.ts'

/** Writes what the board has counted of user hashes, from time to time, under the hour of the writing. */
export class IdentityTable {
  private readonly addCount
  /** What of the board's counts is written, by organisation. */
  private readonly written = new Map<number, UserHashCounts>()
  private writtenSum = 0

  constructor(
    database: Database,
    private readonly board: IdentityBoard,
  ) {
    this.addCount = database.query(
      `insert into identity_counts (org_id, hour, verdict, count) values (?, ?, ?, ?)
      on conflict do update set count = count + excluded.count`,
    )
  }

  /** Whether anything was counted since the last time. */
  hasNews(): boolean {
    return this.sum() !== this.writtenSum
  }

  /**
   * Writes all that was counted since the last time, within a transaction.
   *
   * @returns to be called once that is committed
   */
  write(now: number): () => void {
    const sum = this.sum()
    const seen = new Map<number, UserHashCounts>()
    if (sum === this.writtenSum) return () => {}
    const hour = Math.floor(now / hourMs)
    for (let orgRow = 0; orgRow <= this.board.highest; orgRow++) {
      const counts = this.board.of(orgRow)
      const before = this.written.get(orgRow) ?? noUserHashes
      for (const verdict of userHashVerdicts) {
        // The board's counts wrap.
        const added = (counts[verdict] - before[verdict]) >>> 0
        if (added === 0) continue
        this.addCount.run(orgRow, hour, verdict, added)
        seen.set(orgRow, counts)
      }
    }
    return () => {
      for (const [orgRow, counts] of seen) this.written.set(orgRow, counts)
      this.writtenSum = sum
    }
  }

  private sum(): number {
    const counts = this.board.sums()
    return userHashVerdicts.reduce((sum, verdict) => sum + counts[verdict], 0)
  }
}
