import type { Database } from 'bun:sqlite'
import {
  type IdentityHour,
  noUserHashes,
  type UserHashCounts,
  type UserHashVerdict,
  userHashVerdicts,
} from '../../../core/organisation/verified-identity.ts'
import { hourMs } from '../../../core/time/durations.ts'

/**
 * How many user hashes got which verdict. Requests count them in memory, and what was added is written from time to
 * time, under the hour in which it is written.
 */
export class UserHashes {
  /** What was counted for all organisations since the process started. */
  readonly sums: UserHashCounts = { ...noUserHashes }
  /** By organisation: what is not written yet. */
  private unwritten = new Map<number, UserHashCounts>()
  private readonly addCount

  constructor(database: Database) {
    this.addCount = database.query(
      `insert into identity_counts (org_id, hour, verdict, count) values (?, ?, ?, ?)
      on conflict do update set count = count + excluded.count`,
    )
  }

  add(orgRow: number, counts: Partial<UserHashCounts>): void {
    for (const verdict of userHashVerdicts) this.sums[verdict] += counts[verdict] ?? 0
    this.count(orgRow, counts, 1)
  }

  private count(orgRow: number, counts: Partial<UserHashCounts>, times: 1 | -1): void {
    const of = this.unwritten.get(orgRow) ?? { ...noUserHashes }
    for (const verdict of userHashVerdicts) of[verdict] += times * (counts[verdict] ?? 0)
    if (userHashVerdicts.some(verdict => of[verdict] !== 0)) this.unwritten.set(orgRow, of)
    else this.unwritten.delete(orgRow)
  }

  /** Whether anything was counted that is not written yet. */
  get hasNews(): boolean {
    return this.unwritten.size > 0
  }

  /**
   * Writes all that was counted since the last time, within a transaction.
   *
   * @returns to be called once that is committed
   */
  write(now: number): () => void {
    const hour = Math.floor(now / hourMs)
    const written = [...this.unwritten].map(([orgRow, counts]) => [orgRow, { ...counts }] as const)
    for (const [orgRow, counts] of written) {
      for (const verdict of userHashVerdicts) {
        if (counts[verdict] > 0) this.addCount.run(orgRow, hour, verdict, counts[verdict])
      }
    }
    return () => {
      for (const [orgRow, counts] of written) this.count(orgRow, counts, -1)
    }
  }
}

interface IdentityRow {
  hour: number
  verdict: UserHashVerdict
  count: number
}

/** Those of the last 24 hours in which any user hash was counted, oldest first, over any connection. */
export function identityHours(database: Database): (orgRow: number, now: number) => IdentityHour[] {
  const query = database.query<IdentityRow, [number, number]>(
    `select hour, verdict, count from identity_counts where org_id = ? and hour > ? order by hour`,
  )
  return (orgRow, now) =>
    [...Map.groupBy(query.all(orgRow, Math.floor(now / hourMs) - 24), ({ hour }) => hour)].map(
      ([hour, ofHour]) => ({
        at: hour * hourMs,
        ...noUserHashes,
        ...Object.fromEntries(ofHour.map(({ verdict, count }) => [verdict, count])),
      }),
    )
}
