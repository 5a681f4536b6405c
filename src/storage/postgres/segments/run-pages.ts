import type { ColumnRow } from '../../sqlite/engine/column-segments/run-columns.ts'
import type { Queries } from '../database/connection.ts'
import { asDoubles } from '../rows/arrays.ts'

/** Runs of a flow that start from one moment up to another; epoch milliseconds, `to` is exclusive. */
export interface Within {
  orgRow: number
  flowRow: number
  from: number
  to: number
}

const numbers = asDoubles(
  'runs',
  ...['id', 'started_at', 'last_at', 'version', 'completed_at', 'dismissed_at'],
)

const inOrder = `(runs.started_at, runs.id) > ($3, $4) and runs.started_at < $5
  order by runs.started_at, runs.id limit $6`

const page = `select ${numbers}, runs.person, steps, traits
  from runs where org_id = $1 and flow_id = $2 and ${inOrder}`

const pageWithTicks = `select ${numbers}, runs.person, steps, traits, items,
    (checklist_at is not null)::integer as checklist
  from runs left join progress
    on progress.org_id = $1 and progress.flow_id = $2 and progress.person = runs.person
  where runs.org_id = $1 and runs.flow_id = $2 and ${inOrder}`

/** Where a page ends. The next has no run that starts earlier, or at the same time with a lower number. */
export type Place = Pick<ColumnRow, 'started_at' | 'id'>

export const beginningAt = (at: number): Place => ({ started_at: at, id: -1 })

/** The next runs after a place, ascending by start, as they go into columns. */
export const pageOfRuns = (
  queries: Queries,
  { orgRow, flowRow, to }: Pick<Within, 'orgRow' | 'flowRow' | 'to'>,
  after: Place,
  most: number,
  hasTicks = false,
): Promise<ColumnRow[]> =>
  queries.all<ColumnRow>(
    hasTicks ? pageWithTicks : page,
    ...[orgRow, flowRow, after.started_at, after.id, to, most],
  )

/** Whether anybody ever ticked anything in a flow. */
export async function isTicked(queries: Queries, orgRow: number, flowRow: number) {
  const found = await queries.get(
    'select 1 as found from progress where org_id = $1 and flow_id = $2 limit 1',
    ...[orgRow, flowRow],
  )
  return found !== null
}
