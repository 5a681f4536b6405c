import type { Database } from 'bun:sqlite'
import { hourMs } from '../../../core/time/durations.ts'
import { type IdentityBoard, IdentityNews } from '../../shared/identity-board.ts'

/** Writes the board's counts of user hashes from time to time, under the hour in which it writes. */
export class IdentityTable extends IdentityNews {
  private readonly addCount

  constructor(database: Database, board: IdentityBoard) {
    super(board)
    this.addCount = database.query(
      `insert into identity_counts (org_id, hour, verdict, count) values (?, ?, ?, ?)
      on conflict do update set count = count + excluded.count`,
    )
  }

  /**
   * Writes all that was counted since the last time, within a transaction.
   *
   * @returns to be called once that is committed
   */
  write(now: number): () => void {
    const { added, written } = this.gather()
    const hour = Math.floor(now / hourMs)
    for (const { orgRow, verdict, count } of added) this.addCount.run(orgRow, hour, verdict, count)
    return written
  }
}
