import type { Database } from 'bun:sqlite'
import type { PastRun } from '../../../core/flow/past-run.ts'

/** The most runs of a person in a flow: nobody has more by themselves, but anybody can report any number. */
const maxPastRuns = 1_000

/**
 * The runs of a person in a flow, the latest first. If there are more than a thousand, those that started last.
 *
 * @param person as `personOf` names them
 */
export type PastRuns = (orgRow: number, flowRow: number, person: string) => PastRun[]

export function pastRunsReader(database: Database): PastRuns {
  const query = database.query<PastRun, [number, number, string]>(
    `select run_key as key, started_at as startedAt, completed_at as completedAt,
      dismissed_at as dismissedAt
    from runs where org_id = ? and flow_id = ? and person = ?
    order by started_at desc limit ${maxPastRuns}`,
  )
  return (...ofPerson) => query.all(...ofPerson)
}
