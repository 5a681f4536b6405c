import { asRows, type Postgres, type Queries, type Value } from '../database/connection.ts'
import { defaultTable, tableOfDay } from './partitions.ts'

/** How many rows a short transaction deletes. */
export const rowsAtOnce = 1_000
/** How many pages one such transaction scans: 2 MB. */
const pagesAtOnce = 250

/** An organisation's events from before a day. */
export interface OldEvents {
  orgRow: number
  /** The first day that is kept. */
  keptFrom: number
}

/** Those of them that are in one table. */
export interface OldEventsIn extends OldEvents {
  table: string
}

/**
 * Which of some organisations have such events in the tables of days.
 *
 * @param lookFrom by organisation; earlier days were searched already
 * @param days that have a table
 */
export async function oldEventsInDays(
  queries: Queries,
  organisations: readonly (OldEvents & { lookFrom: number })[],
  days: readonly number[],
): Promise<OldEventsIn[]> {
  const latest = Math.max(...organisations.map(({ keptFrom }) => keptFrom))
  const asked = days.filter(day => day < latest)
  if (asked.length === 0) return []
  // One look-up per organisation and day. The order makes it use the index instead of scanning a table.
  const rows = await queries.all<OldEvents & { day: number }>(
    `select of."orgRow", of."keptFrom", day
    from json_to_recordset($1::text::json)
      as of ("orgRow" bigint, "keptFrom" integer, "lookFrom" integer)
    join (select value::integer as day from json_array_elements_text($2::text::json)) days
      on day >= of."lookFrom" and day < of."keptFrom"
    cross join lateral (
      select 1 from events
      where org_id = of."orgRow" and events.day = days.day order by seq limit 1
    ) found
    order by day, of."orgRow"`,
    asRows(organisations),
    JSON.stringify(asked),
  )
  return rows.map(({ orgRow, keptFrom, day }) => ({ orgRow, keptFrom, table: tableOfDay(day) }))
}

/** Which of some organisations have such events in the default table. */
export async function oldEventsInDefault(
  queries: Queries,
  organisations: readonly OldEvents[],
): Promise<OldEventsIn[]> {
  const rows = await queries.all<OldEvents>(
    `select of."orgRow", of."keptFrom"
    from json_to_recordset($1::text::json) as of ("orgRow" bigint, "keptFrom" integer)
    cross join lateral (
      select 1 from ${defaultTable}
      where org_id = of."orgRow" and day < of."keptFrom" order by seq limit 1
    ) found
    order by of."orgRow"`,
    asRows(organisations),
  )
  return rows.map(row => ({ ...row, table: defaultTable }))
}

/**
 * Deletes some of an organisation's events, oldest first, and notes for each flow until when events are gone.
 * What was made from those events (runs, ticks, completions) stays.
 *
 * @returns how many were deleted: `rowsAtOnce`, or all that there were
 */
export const deleteEvents = (
  postgres: Postgres,
  { orgRow, keptFrom, table }: OldEventsIn,
): Promise<number> =>
  postgres.begin(async transaction => {
    await transaction.all('select 1 from ledgers where org_id = $1 for update', orgRow)
    const row = await transaction.get<{ events: number }>(
      `with gone as (
        delete from ${table} where org_id = $1 and day < $2 and seq in (
          select seq from ${table} where org_id = $1 and day < $2 order by seq limit ${rowsAtOnce}
        )
        returning flow_id, occurred_at
      ), noted as (
        insert into deleted_events (org_id, flow_id, last_at)
        select $1, flow_id, max(occurred_at) from gone where flow_id is not null group by flow_id
        on conflict (org_id, flow_id) do update
        set last_at = greatest(deleted_events.last_at, excluded.last_at)
      )
      select count(*)::integer as events from gone`,
      orgRow,
      keptFrom,
    )
    return row!.events
  })

/** From when on an organisation keeps its rows other than events. */
export interface KeptSince {
  orgRow: number
  /** Epoch milliseconds. */
  since: number
}

/** Deletes the dead letters that organisations have kept long enough. */
export async function deleteOldLetters(
  queries: Queries,
  organisations: readonly KeptSince[],
): Promise<void> {
  await queries.run(
    `delete from dead_letters using json_to_recordset($1::text::json)
      as of ("orgRow" bigint, since bigint)
    where org_id = of."orgRow" and at < of.since`,
    asRows(organisations),
  )
}

/**
 * Deletes rows of a table by a condition that no index supports, from the first page to the last, so that old
 * rows are found at the cost of reading the table once.
 */
export async function* deleteByPages(
  queries: Queries,
  table: string,
  condition: string,
  ...values: readonly Value[]
): AsyncGenerator<void> {
  const { pages } = (await queries.get<{ pages: number }>(
    `select pg_relation_size($1::text::regclass) / current_setting('block_size')::integer as pages`,
    table,
  ))!
  const [from, to] = [`$${values.length + 1}`, `$${values.length + 2}`]
  for (let page = 0; page < pages; page += pagesAtOnce) {
    await queries.run(
      `delete from ${table}
      where ctid >= ${from}::text::tid and ctid < ${to}::text::tid and ${condition}`,
      ...values,
      `(${page},0)`,
      `(${page + pagesAtOnce},0)`,
    )
    yield
  }
}

/** Deletes changes from before a moment from the log, up to the first change that is younger. */
export async function* deleteChanges(queries: Queries, before: number): AsyncGenerator<void> {
  const slice = () =>
    queries.run(
      `delete from catalogue_log where (seq, place) in (
        select seq, place from catalogue_log
        where seq < coalesce(
          (select seq from catalogue_log where at >= $1 order by seq limit 1), 9223372036854775807
        )
        order by seq, place limit ${rowsAtOnce}
      )`,
      before,
    )
  while ((await slice()) > 0) yield
}
