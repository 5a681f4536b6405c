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

/** How far a move is, in rows of all tables, an event being a row too. */
export interface MoveProgress {
  table: string
  done: number
  total: number
}

/** How many rows were moved, by table. */
export type Counts = ReadonlyMap<string, number>

/** Only one process moves at a time; any number that nothing else locks. */
const lock = 0x6361_6974

/** Where a move was interrupted. */
export interface Place {
  table: string
  /** How many of its rows are in place. */
  rows: number
  /** The key of the last one; null before the first. */
  last: readonly (string | number)[] | null
}

/** How a directory is told from any other, and from itself at another time. */
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
    // Whoever opens a storage over the directory counts up the first.
    mark: hashOf(rows.filter(row => !isSeed(row))),
  }
}

/**
 * For whoever would use a database: a node at its start, too.
 *
 * @throws MoveRefused where the move of a data directory into it is not done, or came out wrong
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
 * What of a directory's own database is not in the shared one: all of it, where it was never moved; what
 * was changed since it was; or nothing. One without organisations has nothing to leave.
 */
export async function leftBehind(
  queries: Queries,
  dataDir: string,
): Promise<'all' | 'changes' | 'nothing'> {
  if (!hasDatabase(dataDir)) return 'nothing'
  using database = openForReading(dataDir)
  // Of whatever release it is; no database, or one that cannot be read, is nobody's to move.
  const signs = attempt(() => (hasNoOrganisation(database) ? null : signsOf(database)), null)
  if (signs === null) return 'nothing'
  const moved = await queries.get<{ mark: string }>(
    "select mark from moves where directory = $1 and state = 'done'",
    signs.directory,
  )
  if (moved === null) return 'all'
  return moved.mark === signs.mark ? 'nothing' : 'changes'
}

/** A database that a move has for itself until it closes it. */
export interface OwnDatabase {
  postgres: Postgres
  /** Throws where the lock was lost. */
  stillHeld(): Promise<unknown>
  close(): Promise<void>
}

/** How often the transaction that has the lock says something: what is in between may end one that does not. */
const wordEveryMs = 20_000

/** How long a database that does not answer is waited for at the end, milliseconds. */
const closesWithinMs = 5_000

/**
 * Opens a database for one move alone. The lock is that of a transaction, which writes nothing and holds up
 * no vacuum; PgBouncer can carry it.
 *
 * @throws MoveRefused where another process moves something into or out of the database, or a node runs on it
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
    // Another may begin as soon as this is closed. Where the connection was lost, so was the lock.
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
 * Begins a move into a database that holds nothing, or finds where that of the same directory was interrupted.
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
    // One that looked for a move before may have joined meanwhile.
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

/** The move is over: nodes may start, or nobody may ever use what is there. */
export async function endMove(queries: Queries, isWell: boolean): Promise<void> {
  await queries.run(
    "update moves set state = $1 where state = 'moving'",
    isWell ? 'done' : 'failed',
  )
}
