import { lockOrganisation } from '../ledger/lock.ts'
import type { Transactions } from '../writer/transactions.ts'

/** Each person's latest report. Of whom none is kept, what is known stays. */
const latest = `select distinct on (step_id, version, person) step_id, version, person, at, outcome
  from step_reports where org_id = $1 and person is not null
  order by step_id, version, person, seq desc`

const reported = 'step_id in (select step_id from step_reports where org_id = $1)'

/**
 * Each person's latest report of a step, anew from all reports in the order of their arrival, whatever
 * the clock said.
 */
export const replayHealth = (transactions: Transactions, orgRow: number): Promise<void> =>
  transactions.run(async transaction => {
    await lockOrganisation(transaction, orgRow)
    await transaction.run(
      `with latest as (${latest})
      delete from step_health h where org_id = $1 and ${reported} and not exists (
        select from latest l
        where l.step_id = h.step_id and l.version = h.version and l.person = h.person
      )`,
      orgRow,
    )
    await transaction.run(
      `insert into step_health as h (org_id, step_id, version, person, at, outcome)
      select $1, step_id, version, person, at, outcome from (${latest}) as latest
      on conflict (org_id, step_id, version, person)
        do update set at = excluded.at, outcome = excluded.outcome
        where (h.at, h.outcome) is distinct from (excluded.at, excluded.outcome)`,
      orgRow,
    )
  })
