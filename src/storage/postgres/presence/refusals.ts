import { buckets } from '../../../core/organisation/buckets.ts'
import { hourMs, minuteMs } from '../../../core/time/durations.ts'
import { countsKeptMs, limitReached } from '../../shared/refusals.ts'
import { asRows, type Queries } from '../database/connection.ts'

/** What was refused for an organisation at a moment, by code. */
export interface Refusals {
  orgRow: number
  at: number
  counts: Readonly<Record<string, number | undefined>>
}

interface Row {
  org_id: number
  hour: number
  code: string
  count: number
  minute: number | null
}

const limitCodes: ReadonlySet<string> = new Set(buckets.map(limitReached))

/** Counts what was refused, by code. */
export const refuse = (
  queries: Queries,
  orgRow: number,
  at: number,
  counts: Refusals['counts'],
): Promise<void> => refuseAll(queries, [{ orgRow, at, counts }])

/**
 * Counts what was refused, in the order of the rows, so that two callers do not wait for each other. A minute in
 * which a limit was reached counts once, although each node may report it.
 */
export async function refuseAll(queries: Queries, refusals: readonly Refusals[]): Promise<void> {
  const rows = new Map<string, Row>()
  for (const { orgRow, at, counts } of refusals) {
    const hour = Math.floor(at / hourMs)
    for (const [code, added] of Object.entries(counts)) {
      if (!added) continue
      const minute = limitCodes.has(code) ? Math.floor(at / minuteMs) : null
      const name = `${orgRow} ${hour} ${code}`
      const row = rows.get(name)
      if (!row) rows.set(name, { org_id: orgRow, hour, code, count: added, minute })
      else if (minute === null || minute !== row.minute) {
        row.count += added
        row.minute = minute && Math.max(minute, row.minute ?? 0)
      }
    }
  }
  if (rows.size === 0) return
  await queries.run(
    `insert into refusals (org_id, hour, code, count, minute)
    select org_id, hour, code, count, minute
    from json_populate_recordset(null::refusals, $1::text::json) order by org_id, hour, code
    on conflict (org_id, hour, code)
      do update set count = refusals.count + excluded.count, minute = excluded.minute
      where excluded.minute is null or excluded.minute > refusals.minute`,
    asRows([...rows.values()]),
  )
}

/** Deletes hourly counts of these organisations, once nothing is reported from them any more. */
export async function deleteOldCounts(
  queries: Queries,
  orgRows: readonly number[],
  now: number,
): Promise<void> {
  const before = Math.floor((now - countsKeptMs) / hourMs)
  for (const table of ['refusals', 'identity_counts']) {
    await queries.run(
      `delete from ${table}
      where org_id in (select value::bigint from json_array_elements_text($1::text::json))
        and hour < $2`,
      ...[JSON.stringify(orgRows), before],
    )
  }
}
