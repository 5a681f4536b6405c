import type { Queries } from '../database/connection.ts'
import { lockOrganisation } from '../ledger/lock.ts'
import type { LongWorkParts, StillHeld } from '../people/long-work.ts'

/** Each person's latest report of a step by order of arrival, whatever the clock said. */
const latest = `select distinct on (version, person) version, person, at, outcome
  from step_reports where org_id = $1 and step_id = $2 and person is not null
  order by version, person, seq desc`

const known = `select version, person, at, outcome
  from step_health where org_id = $1 and step_id = $2`

/**
 * Rebuilds what is known of each person at each step from all reports. For a step of which no report is kept, it
 * stays as it is. Others wait while a step is corrected, but not while it is compared.
 */
export async function replayHealth(
  { postgres, transactions }: Pick<LongWorkParts, 'postgres' | 'transactions'>,
  orgRow: number,
  stillHeld: StillHeld,
): Promise<void> {
  const reported = await postgres.all<{ step_id: number }>(
    'select distinct step_id from step_reports where org_id = $1',
    orgRow,
  )
  for (const { step_id } of reported) {
    const differs = await postgres.get(
      `select 1 from (${latest}) l full join (${known}) h using (version, person)
      where (l.at, l.outcome) is distinct from (h.at, h.outcome) limit 1`,
      ...[orgRow, step_id],
    )
    if (differs === null) continue
    await transactions.run(async transaction => {
      await lockOrganisation(transaction, orgRow)
      await stillHeld()
      await correct(transaction, orgRow, step_id)
    })
  }
}

async function correct(transaction: Queries, orgRow: number, step: number): Promise<void> {
  await transaction.run(
    `with latest as (${latest})
    delete from step_health h where org_id = $1 and step_id = $2 and not exists (
      select from latest l where l.version = h.version and l.person = h.person
    )`,
    ...[orgRow, step],
  )
  await transaction.run(
    `insert into step_health as h (org_id, step_id, version, person, at, outcome)
    select $1, $2, version, person, at, outcome from (${latest}) as latest
    on conflict (org_id, step_id, version, person)
      do update set at = excluded.at, outcome = excluded.outcome
      where (h.at, h.outcome) is distinct from (excluded.at, excluded.outcome)`,
    ...[orgRow, step],
  )
}
