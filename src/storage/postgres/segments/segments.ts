import type { Queries } from '../database/connection.ts'
import { asDoubles, type ColumnTypes, fromArrays, inArrays } from '../rows/arrays.ts'
import type { RowChange } from '../rows/tables.ts'
import type { Within } from './run-pages.ts'

/**
 * Settled runs as columns besides their rows, in the same bytes as the segments of a server alone. An answer
 * reads segments and the rows between them as of one moment, so no number depends on what is sealed. A segment
 * is made, and deleted by the first change of what it tells, in a transaction that has locked the organisation.
 */

/** A stretch of a flow's runs that is stored as columns. */
export interface SegmentRow {
  from_at: number
  to_at: number
  /** How many versions the flow had, if one more would change the segment; otherwise null. */
  flow_versions: number | null
}

const rows = `select ${asDoubles('s', 'from_at', 'to_at', 'flow_versions')}`
const isWithin =
  's.org_id = $1 and s.flow_id = $2 and s.from_at > $3 and s.from_at < $5 and s.to_at > $4'

/** The segments of a flow that have runs from a range of time, ascending. */
export const segmentsWithin = (queries: Queries, { orgRow, flowRow, from, to }: Within) =>
  queries.all<SegmentRow>(
    `${rows} from run_blocks s where ${isWithin} order by s.from_at`,
    ...[orgRow, flowRow, Number.MIN_SAFE_INTEGER, from, to],
  )

/** The same with their columns, as many as are read at once. The next ones begin after the last of these. */
export const columnsWithin = (
  queries: Queries,
  { orgRow, flowRow, from, to }: Within,
  after: number,
  most: number,
) =>
  queries.all<SegmentRow & { columns: Uint8Array }>(
    `${rows}, columns from run_blocks s where ${isWithin} order by s.from_at limit $6`,
    ...[orgRow, flowRow, after, from, to, most],
  )

/**
 * Writes a segment in place of any that overlaps it, within a transaction that has locked the organisation.
 *
 * @param segment its columns are bytes as `encodeSegment` makes them
 */
export async function writeSegment(
  transaction: Queries,
  { orgRow, flowRow, from, to }: Within,
  segment: { runs: number; flowVersions: number | null; columns: Uint8Array },
): Promise<void> {
  await Promise.all([
    transaction.run(
      `delete from run_blocks
      where org_id = $1 and flow_id = $2 and from_at < $4 and to_at > $3`,
      ...[orgRow, flowRow, from, to],
    ),
    transaction.run(
      `insert into run_blocks (org_id, flow_id, from_at, to_at, runs, flow_versions, columns)
      values ($1, $2, $3, $4, $5, $6, decode($7, 'hex'))`,
      ...[orgRow, flowRow, from, to, segment.runs, segment.flowVersions],
      Buffer.from(segment.columns).toString('hex'),
    ),
    transaction.run(
      'update ledgers set sealed_until = greatest(sealed_until, $2) where org_id = $1',
      ...[orgRow, to],
    ),
  ])
}

/** Makes a flow's numbers come from its rows again, until somebody asks for many. */
export const forgetSegments = (queries: Queries, orgRow: number, flowRow: number) =>
  queries.run('delete from run_blocks where org_id = $1 and flow_id = $2', orgRow, flowRow)

/** Keys of runs as they will be, and of people whose runs have to be found: a row has one or the other. */
const keys = {
  ...{ org_id: 'bigint', flow_id: 'bigint', run_key: 'text', started_at: 'bigint' },
  person: 'text',
} as const satisfies ColumnTypes

/** `offset 0` makes each row be looked up by its key, whatever the planner assumes about the tables. */
const takeAway = `
  with
    changed as (select * from ${fromArrays(keys)}),
    starts as (
      select org_id, flow_id, started_at from changed where started_at is not null
      union
      select c.org_id, c.flow_id, r.started_at from changed c cross join lateral (
        select started_at from runs r
        where r.org_id = c.org_id and r.flow_id = c.flow_id and r.run_key = c.run_key offset 0
      ) r
      union
      select c.org_id, c.flow_id, r.started_at from changed c cross join lateral (
        select started_at from runs r
        where r.org_id = c.org_id and r.flow_id = c.flow_id and r.person = c.person offset 0
      ) r
    )
  delete from run_blocks b using starts s cross join lateral (
    select from_at, to_at from run_blocks o
    where o.org_id = s.org_id and o.flow_id = s.flow_id and o.from_at <= s.started_at
    order by from_at desc limit 1
  ) o
  where o.to_at > s.started_at
    and b.org_id = s.org_id and b.flow_id = s.flow_id and b.from_at = o.from_at`

/**
 * Deletes the segments that have one of these runs, or would have it once it is written, or that tell what one of
 * these people has ticked. To be called before the write, within a transaction that has locked the organisation.
 */
export async function takeSegmentsAway(
  transaction: Queries,
  runs: readonly RowChange[],
  progress: readonly RowChange[],
): Promise<void> {
  if (runs.length + progress.length === 0) return
  const named = runs.map(({ key: { org_id, flow_id, run_key }, content }) => ({
    ...{ org_id, flow_id, run_key, started_at: content?.started_at ?? null },
  }))
  const people = progress.map(({ key: { org_id, flow_id, person } }) => ({
    ...{ org_id, flow_id, person },
  }))
  await transaction.run(takeAway, ...inArrays(keys, [...named, ...people]))
}
