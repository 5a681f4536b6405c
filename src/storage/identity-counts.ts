import type { Database } from 'bun:sqlite'
import { hourMs } from '../core/durations.ts'
import {
  noUserHashes,
  type UserHashCounts,
  type UserHashVerdict,
  userHashVerdicts,
} from '../core/verified-identity.ts'

/** What was counted of an organisation's user hashes within an hour. */
export interface IdentityHour extends UserHashCounts {
  /** When it began, epoch milliseconds. */
  at: number
}

interface CountRow {
  hour: number
  verdict: UserHashVerdict
  count: number
}

/** The hours of the last 24 in which any was counted, oldest first, over any connection. */
export function identityHours(database: Database): (orgRow: number, now: number) => IdentityHour[] {
  const query = database.query<CountRow, [number, number]>(
    `select hour, verdict, count from identity_counts where org_id = ? and hour > ? order by hour`,
  )
  return (orgRow, now) => {
    const rows = query.all(orgRow, Math.floor(now / hourMs) - 24)
    return [...Map.groupBy(rows, ({ hour }) => hour)].map(([hour, ofHour]) => ({
      at: hour * hourMs,
      ...noUserHashes,
      ...Object.fromEntries(ofHour.map(({ verdict, count }) => [verdict, count])),
    }))
  }
}

/** All of some hours together. */
export function summedHours(hours: readonly IdentityHour[]): UserHashCounts {
  const sums = { ...noUserHashes }
  for (const hour of hours) {
    for (const verdict of userHashVerdicts) sums[verdict] += hour[verdict]
  }
  return sums
}
