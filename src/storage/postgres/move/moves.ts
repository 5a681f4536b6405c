import type { Database } from 'bun:sqlite'
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { attempt } from '../../../core/attempt.ts'
import { hasDatabase, openForReading } from '../../sqlite/database/database.ts'
import { hasNoOrganisation } from '../../sqlite/database/inspect.ts'
import { Postgres, type Queries } from '../database/connection.ts'
import { liveNodes } from '../nodes/nodes.ts'

/** Something cannot be moved as it is; the message says why and what to do. */
export class MoveRefused extends Error {
  override readonly name = 'MoveRefused'
}

/** How far a move is, in rows of all tables; an event counts as a row. */
export interface MoveProgress {
  table: string
  done: number
  total: number
}

/** How many rows were moved, by table. */
export type Counts = ReadonlyMap<string, number>

/** Lets only one process move at a time. Any number that nothing else locks. */
const lock = 0x6361_6974

/** Where a move was interrupted. */
export interface Place {
  table: string
  /** How many of its rows are in place. */
  rows: number
  /** The key of the last one; null before the first. */
  last: readonly (string | number)[] | null
}

/** Distinguishes a directory from any other, and from itself at another time. */
function signsOf(database: Database): { directory: string; mark: string } {
  const rows = database
    .query<{ name: string; value: number }, []>(
      `select name, value from server_state
      where name glob '*_seed_[12]' or name in ('probe', 'projected') order by name`,
    )
    .all()
  const hashOf = (some: typeof rows) =>
    createHash('sha256').update(JSON.stringify(some)).digest('hex').slice(0, 32)
  const isSeed = ({ name }: { name: string }) => name.includes('_seed_')
  return {
    directory: hashOf(rows.filter(isSeed)),
    // Opening a storage over the directory counts `probe` up.
    mark: hashOf(rows.filter(row => !isSeed(row))),
  }
}

/**
 * To be called by everyone who is about to use a database, including a node at its start.
 *
 * @throws MoveRefused if the move of a data directory into it is not done, or came out wrong
 */
export async function requireNoMove(queries: Queries): Promise<void> {
  const move = await queries.get<{ state: string }>("select state from moves where state <> 'done'")
  if (move === null) return
  throw new MoveRefused(
    move.state === 'failed'
      ? 'the move of a data directory into this database came out wrong: serve from the directory, which is as it was'
      : 'the move of a data directory into this database is not done: run "cairn move", which goes on with it',
  )
}

/**
 * How much of a directory's own database is missing from the shared one: all of it, if it was never moved; the
 * changes since then; or nothing. A database without organisations has nothing to leave behind.
 */
export async function leftBehind(
  queries: Queries,
  dataDir: string,
): Promise<'all' | 'changes' | 'nothing'> {
  if (!hasDatabase(dataDir)) return 'nothing'
  using database = openForReading(dataDir)
  // It may be of any release. If there is no database, or it cannot be read, there is nothing to move.
  const signs = attempt(() => (hasNoOrganisation(database) ? null : signsOf(database)), null)
  if (signs === null) return 'nothing'
  const moved = await queries.get<{ mark: string }>(
    "select mark from moves where directory = $1 and state = 'done'",
    signs.directory,
  )
  if (moved === null) return 'all'
  return moved.mark === signs.mark ? 'nothing' : 'changes'
}

/** A database that a move has to itself until it closes it. */
export interface OwnDatabase {
  postgres: Postgres
  /** Throws if the lock was lost. */
  stillHeld(): Promise<unknown>
  close(): Promise<void>
}

/** How often the transaction with the lock runs a query, because something in between may end an idle one. */
const wordEveryMs = 20_000

/** How long to wait at the end for a database that does not answer, milliseconds. */
const closesWithinMs = 5_000

/**
 * Opens a database for one move alone. The lock belongs to a transaction, which writes nothing, does not hold up
 * vacuum, and works through PgBouncer.
 *
 * @throws MoveRefused if another process moves something into or out of the database, or a node runs on it
 */
export async function openForItself(url: string): Promise<OwnDatabase> {
  const postgres = Postgres.open(url, { most: 2 })
  const held = Promise.withResolvers<Queries>()
  const over = Promise.withResolvers<boolean>()
  const holding = postgres.begin(async holder => {
    await takeLock(holder)
    held.resolve(holder)
    const pause = () => sleep(wordEveryMs, false, { ref: false })
    while (!(await Promise.race([over.promise, pause()]))) await holder.get('select 1')
  })
  const close = async () => {
    over.resolve(true)
    // Another move may begin as soon as this is closed. If the connection was lost, so was the lock.
    await Promise.race([holding.catch(() => {}), sleep(closesWithinMs, null, { ref: false })])
    await postgres.close(true)
  }
  try {
    const holder = await Promise.race([held.promise, holding as Promise<never>])
    await requireNoNode(postgres)
    return { postgres, close, stillHeld: () => holder.get('select 1') }
  } catch (error) {
    await close()
    throw error
  }
}

async function takeLock(transaction: Queries): Promise<void> {
  await transaction.run('set local idle_in_transaction_session_timeout = 0')
  const { isFree } = (await transaction.get<{ isFree: boolean }>(
    'select pg_try_advisory_xact_lock($1) as "isFree"',
    lock,
  ))!
  if (isFree) return
  throw new MoveRefused(
    'another "cairn move" is at work on this database: wait for its end, or stop it',
  )
}

/** @throws MoveRefused */
export async function requireNoNode(queries: Queries): Promise<void> {
  const names = (await liveNodes(queries)).map(({ name }) => name)
  if (names.length === 0) return
  throw new MoveRefused(
    `${names.length === 1 ? 'a server runs' : `${names.length} servers run`} on this database (${names.slice(0, 3).join('; ')}): stop all of them, and wait some seconds where one was killed`,
  )
}

/**
 * Begins a move into an empty database, or finds where the move of the same directory was interrupted.
 *
 * @throws MoveRefused
 */
export async function beginMove(queries: Queries, database: Database, now: number): Promise<Place> {
  const { directory, mark } = signsOf(database)
  const known = await queries.get<{
    directory: string
    mark: string
    state: string
    table_name: string
    table_rows: number
    last_key: string | null
  }>('select * from moves')
  if (known === null) {
    await requireNothing(queries)
    await queries.run(
      'insert into moves (directory, mark, began_at) values ($1, $2, $3)',
      ...[directory, mark, now],
    )
    // A node that looked for a move before this one began may have joined meanwhile.
    await requireNoNode(queries)
    return { table: '', rows: 0, last: null }
  }
  if (known.state === 'done') {
    const what =
      known.directory === directory ? 'this data directory was' : 'another data directory was'
    throw new MoveRefused(`${what} moved into this database already: ${anotherDatabase}`)
  }
  if (known.directory !== directory) {
    throw new MoveRefused(
      `the move of another data directory into this database was begun and is not done: ${anotherDatabase}`,
    )
  }
  if (known.state === 'failed') {
    throw new MoveRefused(
      `an earlier move of this data directory into this database came out wrong: ${anotherDatabase}`,
    )
  }
  if (known.mark !== mark) {
    throw new MoveRefused(
      `this data directory has changed since its move into this database was interrupted: ${anotherDatabase}`,
    )
  }
  return {
    table: known.table_name,
    rows: known.table_rows,
    last: known.last_key === null ? null : JSON.parse(known.last_key),
  }
}

const anotherDatabase =
  'make a new database ("create database", then "cairn migrate"), and move into that'

async function requireNothing(queries: Queries): Promise<void> {
  for (const table of ['organisations', 'events', 'ledgers']) {
    if ((await queries.get(`select 1 from ${table} limit 1`)) === null) continue
    throw new MoveRefused(`this database holds organisations already: ${anotherDatabase}`)
  }
}

/** Ends the move: nodes may start, or nobody may ever use what is there. */
export async function endMove(queries: Queries, isWell: boolean): Promise<void> {
  await queries.run(
    "update moves set state = $1 where state = 'moving'",
    isWell ? 'done' : 'failed',
  )
}
