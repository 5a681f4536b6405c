import type { Database } from 'bun:sqlite'
import {
  type IdentityHour,
  noUserHashes,
  type UserHashVerdict,
} from '../../../core/organisation/verified-identity.ts'
import { hourMs } from '../../../core/time/durations.ts'

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
