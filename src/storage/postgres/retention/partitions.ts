import { type Postgres, type Queries, sqlStateOf } from '../database/connection.ts'
import { dayOf } from '../events/event-rows.ts'
import { weekOf } from '../ledger/event-id.ts'
import { continuesWithinMs } from '../ledger/lock.ts'

/**
 * Events lie in a table a day of receipt, ids in one a week that they name. What was not foreseen, as of a
 * sender whose clock is wrong, is in a default table.
 */

/** How many days and weeks have a table ahead of their time. */
const daysAhead = 3
const weeksAhead = 2

/**
 * How long a lock is waited for, milliseconds: everybody who writes waits behind. It is less than the second
 * after which PostgreSQL looks for deadlocks, so that in one it is not a writer who has to give way.
 */
const lockMs = 500

/** How many ids are brought along at most: others of such weeks wait meanwhile, three seconds on two cores. */
const mostBrought = 200_000

/** Only one node makes them at a time; any number that nothing else locks. */
const making = 0x6361_6973

/** Only one node drops a day at a time; any number that is not another's, beside the day's. */
const dropping = 0x6361_6974

export const tableOfDay = (day: number): string => `events_d${day}`
/** Where unforeseen days lie. */
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

/** Which of such days have a table with nothing in it. */
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
 * About when the oldest event was received: one of the oldest day, which is not read through. Null where
 * there is none.
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

/** A lock was not to be had, or was part of a deadlock. */
const wasLocked = (error: unknown) => ['55P03', '40P01'].includes(sqlStateOf(error) ?? '')

/** The default table holds a row that belongs into the new one. */
const isInDefault = (error: unknown) => sqlStateOf(error) === '23514'

/** Others wait behind it, so a node that stands still in the middle of it does not keep its locks. */
const withShortLocks = <T>(postgres: Postgres, work: (transaction: Queries) => Promise<T>) =>
  postgres.begin(async transaction => {
    await transaction.script(
      `set local lock_timeout = ${lockMs}; set local idle_in_transaction_session_timeout = ${continuesWithinMs}`,
    )
    return work(transaction)
  })

/**
 * Makes the tables of today and the next days, and of this week and the next ones, where they are missing.
 * Where the default table has events of such a day already, they and what follows them stay there. Ids of such
 * a week are brought along: any page whose clock is weeks ahead sends some, long before the week. One that others
 * have locked waits for the next time.
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
    // It is small, for ids of a week are written in the order of their receipt.
    const index = `create index ${receiptIndexOf(table)} on ${table}
      using brin (received_at) with (autosummarize = on)`
    await attach(postgres, 'event_ids', table, week, async transaction => {
      await transaction.run(index)
      await bringIds(transaction, table, week)
    })
  }
}

/** Moves ids of a week from the default table to the week's, for with them there it could not be attached. */
async function bringIds(transaction: Queries, table: string, week: number): Promise<void> {
  const found = await transaction.get<{ ids: number }>(
    `select count(*)::bigint as ids from (
      select 1 from event_ids_default where bucket = $1 limit ${mostBrought + 1}) found`,
    week,
  )
  if (found!.ids === 0 || found!.ids > mostBrought) return
  // An id that is deleted meanwhile would be missed.
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
      // Attached, and not made as a part: so those who write and read need not be waited for.
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
 * Drops a day's table, and notes until when events of which flows are gone with it. It reads all of them
 * while others go on; then it stops all writers for a moment, for what they have read of the ledger must
 * not go while they write what follows from it.
 *
 * @param isOnlyIfEmpty leaves one that still has events of some organisation
 * @returns how many events it held; null where it is still there, or another node is at it
 */
export async function dropDay(
  postgres: Postgres,
  day: number,
  isOnlyIfEmpty: boolean,
): Promise<number | null> {
  const table = tableOfDay(day)
  try {
    return await withShortLocks(postgres, async transaction => {
      // It may take longer than the job is held for: two that read it together could both not drop it.
      const isOurs = await transaction.get<{ isOurs: boolean }>(
        'select pg_try_advisory_xact_lock($1, $2) as "isOurs"',
        ...[dropping, day],
      )
      if (!isOurs!.isOurs) return null
      // All of it is read: in the order of an index, which its pool would take, each row by itself.
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
      // By the index of receipt, which is read in no other way: those who send ids of that week wait.
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
