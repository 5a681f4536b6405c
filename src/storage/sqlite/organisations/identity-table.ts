import type { Database } from 'bun:sqlite'
import { hourMs } from '../../../core/time/durations.ts'
import type { UserHashes } from '../../shared/user-hashes.ts'

/** Writes the counts of user hashes from time to time, under the hour in which it writes. */
export class IdentityTable {
  private readonly addCount

  constructor(
    database: Database,
    private readonly userHashes: UserHashes,
  ) {
    this.addCount = database.query(
      `insert into identity_counts (org_id, hour, verdict, count) values (?, ?, ?, ?)
      on conflict do update set count = count + excluded.count`,
    )
  }

  /** Whether there is anything to write since the last time. */
  get hasNews(): boolean {
    return this.userHashes.hasNews
  }

  /**
   * Writes all that was counted since the last time, within a transaction.
   *
   * @returns to be called once that is committed
   */
  write(now: number): () => void {
    const { added, written } = this.userHashes.takeNews()
    const hour = Math.floor(now / hourMs)
    for (const { orgRow, verdict, count } of added) this.addCount.run(orgRow, hour, verdict, count)
    return written
  }
}
