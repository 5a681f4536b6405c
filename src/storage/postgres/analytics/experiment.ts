import type { AnalyticsReader, ExperimentCounts } from '../../../modules/analytics/port.ts'
import type { InRows } from '../../shared/in-rows.ts'
import type { Queries } from '../database/connection.ts'

/** In the order of `$1` to `$6`: organisation, flow, version or null, start, end, goal. */
const counts = `
with
  held as (
    select person,
      min(at) filter (where at >= $4 and at < $5 and version = coalesce($3, version)) as at
    from held_out where org_id = $1 and flow_id = $2
    group by person
  ),
  -- In the range the first run of a person is their earliest.
  shown as (
    select person, min(started_at) as at from runs
    where org_id = $1 and flow_id = $2 and started_at >= $4 and started_at < $5
      and version in (
        select version from held_out
        where org_id = $1 and flow_id = $2 and version = coalesce($3, version)
      )
      and not exists (select from held where held.person = runs.person)
    group by person
  ),
  people as (
    select person, at, true as is_held from held where at is not null
    union all
    select person, at, false from shown
  )
select is_held, count(*) as people, count(*) filter (where last_at >= at) as achieved
from people left join goals
  on goals.org_id = $1 and flow_id = $2 and goals.person = people.person and name = $6
group by is_held`

/** For a flow that holds people out: how many reached its goal with it, and how many without. */
export function experimentOver(queries: Queries): InRows<AnalyticsReader['experiment']> {
  return async (orgRow, flowRow, { range, version, goal }) => {
    const groups = await queries.all<ExperimentCounts['shown'] & { is_held: boolean }>(
      counts,
      ...[orgRow, flowRow, version, range.startMs, range.endMs, goal],
    )
    const group = (isHeld: boolean) => {
      const { people, achieved } = groups.find(({ is_held }) => is_held === isHeld) ?? nobody
      return { people, achieved }
    }
    return { shown: group(false), heldOut: group(true) }
  }
}

const nobody = { people: 0, achieved: 0 }
