import { type Postgres, type Queries, sqlStateOf } from '../database/connection.ts'
import { dayOf } from '../events/event-rows.ts'
import { weekOf } from '../ledger/event-id.ts'
import { continuesWithinMs } from '../ledger/lock.ts'

/**
 * Events are in one table per day of receipt, ids in one table per week that they name. What was not foreseen,
 * such as from a sender whose clock is wrong, is in a default table.
 */

/** How many days and weeks have a table ahead of time. */
const daysAhead = 3
const weeksAhead = 2

/**
 * How long to wait for a lock, milliseconds. Every writer waits behind it. It is less than the second after
 * which PostgreSQL looks for deadlocks, so that a writer is not the one that has to give way.
 */
const lockMs = 500

/** The most ids that are moved. Others of such weeks wait meanwhile, for three seconds on two cores. */
const mostBrought = 200_000

/** Lets only one node create tables at a time. Any number that nothing else locks. */
const making = 0x6361_6973

/** Lets only one node drop a day at a time. Any number that no other lock has, together with the day's. */
const dropping = 0x6361_6974

export const tableOfDay = (day: number): string => `events_d${day}`
/** The table of unforeseen days. */
export const defaultTable = 'events_default'

const tableOfWeek = (week: number) => `event_ids_w${week}`
const receiptIndexOf = (table: string) => `${table}_by_receipt`

async function partitionsOf(queries: Queries, table: string, form: RegExp): Promise<number[]> {
  const rows = await queries.all<{ name: string }>(
    `select relname::text as name from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent = $1::text::regclass`,
    table,
  )
  const numbers = rows.flatMap(({ name }) => form.exec(name)?.[1] ?? []).map(Number)
  return numbers.sort((a, b) => a - b)
}

/** The days that have a table, in ascending order. */
export const daysWithTable = (queries: Queries): Promise<number[]> =>
  partitionsOf(queries, 'events', /^events_d(\d+)$/)

/** Which of these days have an empty table. */
export async function emptyDays(queries: Queries, days: readonly number[]): Promise<Set<number>> {
  const filled = await queries.all<{ day: number }>(
    `select day from (
      select value::integer as day from json_array_elements_text($1::text::json)
    ) days
    cross join lateral (select 1 from events where events.day = days.day limit 1) found`,
    JSON.stringify(days),
  )
  return new Set(days).difference(new Set(filled.map(({ day }) => day)))
}

/**
 * Roughly when the oldest event was received: the time of any event of the oldest day, which is not read
 * completely. Null if there is none.
 */
export async function oldestReceipt(queries: Queries): Promise<number | null> {
  const days = await daysWithTable(queries)
  for (const table of [...days.map(tableOfDay), defaultTable]) {
    const row = await queries.get<{ at: number }>(`select received_at as at from ${table} limit 1`)
    if (row) return row.at
  }
  return null
}

/** The weeks that have a table, in ascending order. */
export const weeksWithTable = (queries: Queries): Promise<number[]> =>
  partitionsOf(queries, 'event_ids', /^event_ids_w(\d+)$/)

/** A lock could not be had, or was part of a deadlock. */
const wasLocked = (error: unknown) => ['55P03', '40P01'].includes(sqlStateOf(error) ?? '')

/** The default table holds a row that belongs in the new one. */
const isInDefault = (error: unknown) => sqlStateOf(error) === '23514'

/** Others wait behind this, so a node that stands still in the middle of it must not keep its locks. */
const withShortLocks = <T>(postgres: Postgres, work: (transaction: Queries) => Promise<T>) =>
  postgres.begin(async transaction => {
    await transaction.script(
      `set local lock_timeout = ${lockMs}; set local idle_in_transaction_session_timeout = ${continuesWithinMs}`,
    )
    return work(transaction)
  })

/**
 * Creates the tables of today and the next days, and of this week and the next ones, if they are missing. If the
 * default table already has events of such a day, they and later ones of that day stay there. Ids of such a week
 * are moved to the new table, because any page whose clock is weeks ahead sends some long before the week. A
 * table that others have locked waits for the next time.
 */
export async function makePartitions(postgres: Postgres, now: number): Promise<void> {
  const days = new Set(await daysWithTable(postgres))
  for (let day = dayOf(now); day <= dayOf(now) + daysAhead; day++) {
    if (!days.has(day)) await attach(postgres, 'events', tableOfDay(day), day)
  }
  const weeks = new Set(await weeksWithTable(postgres))
  for (let week = weekOf(now); week <= weekOf(now) + weeksAhead; week++) {
    if (weeks.has(week)) continue
    const table = tableOfWeek(week)
    // The index is small, because ids of a week are written in the order of their receipt.
    const index = `create index ${receiptIndexOf(table)} on ${table}
      using brin (received_at) with (autosummarize = on)`
    await attach(postgres, 'event_ids', table, week, async transaction => {
      await transaction.run(index)
      await bringIds(transaction, table, week)
    })
  }
}

/** Moves ids of a week from the default table to the week's, which could not be attached otherwise. */
async function bringIds(transaction: Queries, table: string, week: number): Promise<void> {
  const found = await transaction.get<{ ids: number }>(
    `select count(*)::bigint as ids from (
      select 1 from event_ids_default where bucket = $1 limit ${mostBrought + 1}) found`,
    week,
  )
  if (found!.ids === 0 || found!.ids > mostBrought) return
  // Otherwise whoever deletes an id meanwhile would miss it.
  await transaction.run('lock table event_ids_default in share row exclusive mode')
  await transaction.run(
    `with gone as (delete from event_ids_default where bucket = $1 returning *)
    insert into ${table} select * from gone`,
    week,
  )
}

async function attach(
  postgres: Postgres,
  parent: string,
  table: string,
  key: number,
  prepare?: (transaction: Queries) => Promise<void>,
): Promise<void> {
  try {
    await withShortLocks(postgres, async transaction => {
      await transaction.all('select pg_advisory_xact_lock($1)', making)
      const known = await transaction.get('select 1 where to_regclass($1) is not null', table)
      if (known) return
      // Created by itself and then attached, because this need not wait for those who read and write.
      await transaction.run(`create table ${table} (like ${parent} including all)`)
      await prepare?.(transaction)
      await transaction.run(
        `alter table ${parent} attach partition ${table} for values from (${key}) to (${key + 1})`,
      )
    })
  } catch (error) {
    if (!wasLocked(error) && !isInDefault(error)) throw error
  }
}

/**
 * Drops a day's table, and notes for each flow until when events are gone with it. It reads the whole table while
 * others go on. Then it stops all writers for a moment, because what they have read of the ledger must not go
 * while they write what follows from it.
 *
 * @param isOnlyIfEmpty leaves a table that still has events of some organisation
 * @returns how many events it held; null if it is still there, or another node is dropping it
 */
export async function dropDay(
  postgres: Postgres,
  day: number,
  isOnlyIfEmpty: boolean,
): Promise<number | null> {
  const table = tableOfDay(day)
  try {
    return await withShortLocks(postgres, async transaction => {
      // This may take longer than the job is held. Two nodes that read the table together could both not drop it.
      const isOurs = await transaction.get<{ isOurs: boolean }>(
        'select pg_try_advisory_xact_lock($1, $2) as "isOurs"',
        ...[dropping, day],
      )
      if (!isOurs!.isOurs) return null
      // The whole table is read. With the pool's settings, an index would be used and each row fetched by itself.
      await transaction.run('set local enable_seqscan = on')
      // From here on nobody adds to it.
      await transaction.run(`lock table ${table} in share mode`)
      if (isOnlyIfEmpty && (await transaction.get(`select 1 from ${table} limit 1`))) return null
      const row = await transaction.get<{ events: number }>(
        `with of_flows as (
          select org_id, flow_id, max(occurred_at) as last_at, count(*) as events
          from ${table} group by org_id, flow_id
        ), noted as (
          insert into deleted_events (org_id, flow_id, last_at)
          select org_id, flow_id, last_at from of_flows
          where flow_id is not null order by org_id, flow_id
          on conflict (org_id, flow_id) do update
          set last_at = greatest(deleted_events.last_at, excluded.last_at)
        )
        select coalesce(sum(events), 0)::bigint as events from of_flows`,
      )
      await transaction.run('lock table ledgers in exclusive mode')
      await transaction.run(`drop table ${table}`)
      return row!.events
    })
  } catch (error) {
    if (wasLocked(error)) return null
    throw error
  }
}

/** Drops a week's table of ids if all of them were received before a moment. */
export async function dropWeek(postgres: Postgres, week: number, before: number): Promise<void> {
  const table = tableOfWeek(week)
  await postgres.all('select brin_summarize_new_values($1::text::regclass)', receiptIndexOf(table))
  try {
    await withShortLocks(postgres, async transaction => {
      await transaction.run(`lock table ${table} in share mode`)
      // Uses the index of receipt, which only a bitmap scan can read, because senders of ids of that week wait.
      await transaction.script('set local enable_seqscan = off; set local enable_bitmapscan = on')
      const young = await transaction.get(
        `select 1 from ${table} where received_at >= $1 limit 1`,
        before,
      )
      if (!young) await transaction.run(`drop table ${table}`)
    })
  } catch (error) {
    if (!wasLocked(error)) throw error
  }
}
