import { SQL } from 'bun'
import type { Prepared } from '../../shared/asking.ts'
import { Turns } from './turns.ts'
import { Watchdog } from './watchdog.ts'

/** What a statement takes in place of `$1`, `$2` and so on. */
export type Value = string | number | null

/**
 * How PostgreSQL is asked: over a pool, or within a transaction. Whole numbers come as numbers, for all of
 * Cairn's are below 2^53.
 */
export interface Queries {
  all<Row>(text: string, ...values: readonly Value[]): Promise<Row[]>
  /** The first row; null where there is none. */
  get<Row>(text: string, ...values: readonly Value[]): Promise<Row | null>
  /** A statement that is asked again and again, as SQLite's are. */
  query<Row>(text: string): Prepared<Row>
  /** @returns how many rows it has written */
  run(text: string, ...values: readonly Value[]): Promise<number>
  /** Several statements that take no values, in one round trip. All of them are kept, or none. */
  script(text: string): Promise<void>
}

/** What a pool is for: each has its own, so that nothing quick waits behind something slow. */
export interface PoolOptions {
  /** Connections at most. Statements of one connection wait for each other. */
  most: number
  /**
   * How long an answer may take, milliseconds. The server ends a statement that takes longer; where it does not
   * even do that, all connections are closed, and what was under way may have been done or not.
   */
  answersWithinMs?: number
  /**
   * How long a transaction may wait for its node, milliseconds: one that was stopped in the middle of it holds
   * up all others until the server takes it back.
   */
  continuesWithinMs?: number
  /**
   * Has each statement planned for its values, which takes some tenths of a millisecond: for lists and
   * long reads. A plan for any values takes an organisation for an average one, and would sort all that is
   * left of a large one's rows for each page.
   */
  plansAnew?: boolean
  /** What takes a connection for long: others wait for one in turn, and not behind it. */
  isInTurns?: boolean
  /** What is told to whoever asks while the database is away; else the error itself. */
  whileAway?(cause: unknown): Error
}

/** The pools of a node's storage thread. */
export const storagePools = {
  /** Groups of events and reports. */
  writing: { most: 2, answersWithinMs: 5_000, continuesWithinMs: 5_000 },
  /** What management changes, and what follows from time to time. */
  changes: { most: 2, answersWithinMs: 5_000, continuesWithinMs: 5_000, isInTurns: true },
  /** The node's lease, what others have changed, and what became of a commit: they wait for nobody. */
  following: { most: 2, answersWithinMs: 5_000 },
  /** See `LongWorkParts`. */
  longWork: { most: 3, answersWithinMs: 600_000 },
} satisfies Record<string, PoolOptions>

/** The pools of a thread that answers requests. */
export const readingPools = {
  /** For requests that somebody waits for. */
  requests: { most: 4, answersWithinMs: 8_000 },
  /** For analytics and downloads. */
  analytics: { most: 2, answersWithinMs: 10_000, plansAnew: true, isInTurns: true },
} satisfies Record<string, PoolOptions>

const connectionsOf = (pools: Readonly<Record<string, PoolOptions>>) =>
  Object.values(pools).reduce((sum, { most }) => sum + most, 0)

/** How many connections a node of two threads for HTTP has at most, those of all its pools. */
export const mostConnectionsOfNode = connectionsOf(storagePools) + 2 * connectionsOf(readingPools)

/** How much later than the server this side takes a statement for lost, milliseconds. */
const graceMs = 1_000

/** How long a pool that is asked nothing more may take to close, milliseconds. */
const closesWithinMs = 10_000

type Client = Pick<SQL, 'unsafe'>

/** A write was sent to a server that takes none. */
const readOnlyState = '25006'

/** SQLSTATE of an error of the server's; null for another one. */
export function sqlStateOf(error: unknown): string | null {
  const { code, errno } = error as { code?: unknown; errno?: unknown }
  return code === 'ERR_POSTGRES_SERVER_ERROR' && typeof errno === 'string' ? errno : null
}

/**
 * Whether an error is of the moment, and no statement's own fault: the connection, the server's state
 * or room, or other transactions. Classes 22 (data), 23 (constraints) and P0 (raised) are a row's.
 */
export function isPassingFault(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state === null ? isConnectionFault(error) : !/^(22|23|42|P0)/.test(state)
}

/**
 * Whether an error may be that of what is written, and its neighbours would pass without it: of a value, a
 * constraint or its size, or of our own making. A statement that makes no sense to the server is nobody's.
 */
export function mayBeOfRow(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state === null ? !isConnectionFault(error) : /^(22|23|54|P0)/.test(state)
}

const isConnectionFault = (error: unknown) =>
  /^ERR_(POSTGRES|TLS|BORINGSSL)|^E[A-Z]+$|CERT|SIGNATURE/.test(
    String((error as { code?: unknown }).code ?? ''),
  )

function inNumbers<Row>(rows: readonly Record<string, unknown>[]): Row[] {
  for (const name of Object.keys(rows[0] ?? {})) {
    // A column is of one type, so its first value tells of all.
    const first = rows.find(row => row[name] !== null)
    if (typeof first?.[name] !== 'bigint') continue
    for (const row of rows) if (row[name] !== null) row[name] = Number(row[name])
  }
  // Not Bun's own kind of array, which has more than its rows.
  return Array.from(rows) as Row[]
}

/** Has something asked, and waits for the answer as long as that may take. */
type Ask = <T>(ask: (client: Client) => PromiseLike<T>) => Promise<T>

abstract class Statements implements Queries {
  protected abstract readonly ask: Ask

  async all<Row>(text: string, ...values: readonly Value[]): Promise<Row[]> {
    return inNumbers<Row>(await this.ask(client => client.unsafe(text, [...values])))
  }

  async get<Row>(text: string, ...values: readonly Value[]): Promise<Row | null> {
    return (await this.all<Row>(text, ...values))[0] ?? null
  }

  query<Row>(text: string): Prepared<Row> {
    return { all: (...values) => this.all<Row>(text, ...values) }
  }

  async run(text: string, ...values: readonly Value[]): Promise<number> {
    const told = await this.ask(client => client.unsafe(text, [...values]))
    return (told as unknown as { count: number }).count
  }

  async script(text: string): Promise<void> {
    await this.ask(client => client.unsafe(text).simple())
  }
}

/** Statements of one connection. */
class OwnStatements extends Statements {
  constructor(protected readonly ask: Ask) {
    super()
  }
}

/** The part of an address that says that PgBouncer, or the like, is in between, and how it is set. */
const poolerParameter = 'pooler'

/**
 * Where a database is, and whether a pooler hands out its connections by transaction (`?pooler=transaction`).
 * Such a one gives a statement another connection each time, and takes no settings of a connection.
 */
function addressOf(text: string): { url: string; isPooled: boolean } {
  const url = new URL(text)
  const isPooled = url.searchParams.get(poolerParameter) === 'transaction'
  // What stands there is for the server else, which would not know it.
  if (isPooled) url.searchParams.delete(poolerParameter)
  return { url: isPooled ? url.href : text, isPooled }
}

/** A pool of connections to a database. */
export class Postgres extends Statements {
  protected readonly ask: Ask = ask => this.inTurn(() => this.watch(() => ask(this.current())))
  private readonly turns: Turns | null
  private readonly watchdog: Watchdog | null
  /** Another server has taken this one's place, and the address may lead there by now. */
  private isAtStandby = false

  private constructor(
    private readonly connect: () => SQL,
    private readonly options: PoolOptions & { isPooled: boolean },
    private pool = connect(),
  ) {
    super()
    const { answersWithinMs, isInTurns, most } = options
    const isBounded = answersWithinMs !== undefined
    this.watchdog = isBounded ? new Watchdog(answersWithinMs + graceMs, () => this.renew()) : null
    this.turns = isBounded && isInTurns ? new Turns(most, answersWithinMs) : null
  }

  /**
   * Connects when it is first asked, and anew when it is lost.
   *
   * @param url with `pooler=transaction` in its query where PgBouncer in transaction mode is in between
   */
  static open(url: string, options: PoolOptions): Postgres {
    const { url: address, isPooled } = addressOf(url)
    const { most, answersWithinMs, continuesWithinMs, plansAnew } = options
    const settings = {
      ...(answersWithinMs && { statement_timeout: String(answersWithinMs) }),
      ...(continuesWithinMs && { idle_in_transaction_session_timeout: String(continuesWithinMs) }),
      // What is not prepared is planned anew.
      ...(plansAnew && { plan_cache_mode: 'force_custom_plan' }),
    }
    const sqlOptions = {
      ...{ max: most, bigint: true, prepare: !isPooled },
      connectionTimeout: Math.min(10_000, answersWithinMs ?? 10_000) / 1_000,
      connection: isPooled ? {} : settings,
    }
    return new Postgres(() => new SQL(address, sqlOptions), { ...options, isPooled })
  }

  /**
   * Does something within a transaction, which is committed where that resolves.
   *
   * @param mode as `begin` takes it: `isolation level repeatable read, read only`
   */
  begin<T>(work: (transaction: Queries) => Promise<T>, mode = ''): Promise<T> {
    return this.inTurn(async () => {
      const begun = Promise.withResolvers<void>()
      const worked = Promise.withResolvers<void>()
      // Where whoever waited for its beginning has gone, nothing may be done.
      const isWanted = Promise.withResolvers<void>()
      isWanted.promise.catch(() => {})
      const start = () =>
        this.current().begin(mode, async client => {
          begun.resolve()
          try {
            await isWanted.promise
            if (this.options.isPooled) await this.setLocally(client)
            return await work(new OwnStatements(ask => this.watch(() => ask(client))))
          } finally {
            worked.resolve()
          }
        }) as Promise<T>
      let ended: Promise<T>
      try {
        await this.watch(() => {
          ended = start()
          return Promise.race([begun.promise, ended])
        })
        isWanted.resolve()
        await Promise.race([worked.promise, ended!])
        return await this.watch(() => ended)
      } catch (error) {
        isWanted.reject(error)
        throw error
      }
    })
  }

  /**
   * Has something read as of one moment, piece by piece, over a connection of its own until it is read or
   * given up.
   */
  async *asOfOneMoment<T>(read: (snapshot: Queries) => AsyncIterable<T>): AsyncGenerator<T> {
    const endTurn = await this.turn()
    try {
      const connection = await this.watch(() => this.current().reserve())
      const ask: Ask = ask => this.watch(() => ask(connection))
      try {
        const snapshot = new OwnStatements(ask)
        await snapshot.run('begin isolation level repeatable read, read only')
        yield* read(snapshot)
      } finally {
        // Where the connection is lost there is nothing to end.
        await ask(client => client.unsafe('commit')).catch(() => {})
        connection.release()
      }
    } finally {
      endTurn()
    }
  }

  /** @param isAtOnce rejects what is under way, whatever became of it */
  async close(isAtOnce = false): Promise<void> {
    const atOnce = { timeout: 0 }
    if (isAtOnce) return this.pool.close(atOnce)
    const closed = this.pool.close()
    const isLate = await Promise.race([closed.then(() => false), late(closesWithinMs)])
    if (isLate) await this.pool.close(atOnce)
  }

  /** What cannot be said of a connection is said of each transaction. */
  private async setLocally(client: Client): Promise<void> {
    const { answersWithinMs = 0, continuesWithinMs = 0 } = this.options
    await this.watch(() =>
      client.unsafe(
        `select set_config('statement_timeout', '${answersWithinMs}', true),
          set_config('idle_in_transaction_session_timeout', '${continuesWithinMs}', true)`,
      ),
    )
  }

  private async watch<T>(ask: () => PromiseLike<T>): Promise<T> {
    try {
      return await (this.watchdog ? this.watchdog.watch(ask) : ask())
    } catch (error) {
      if (sqlStateOf(error) === readOnlyState) this.isAtStandby = true
      throw this.asTold(error)
    }
  }

  private asTold(error: unknown): unknown {
    const { whileAway } = this.options
    return whileAway && isPassingFault(error) ? whileAway(error) : error
  }

  private async turn(): Promise<() => void> {
    try {
      return (await this.turns?.take()) ?? (() => {})
    } catch (error) {
      throw this.asTold(error)
    }
  }

  private async inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.turns === null) return work()
    const endTurn = await this.turn()
    try {
      return await work()
    } finally {
      endTurn()
    }
  }

  private current(): SQL {
    if (this.isAtStandby) this.renew()
    return this.pool
  }

  /** Gives all connections up, and what is under way on them with them. */
  private renew(): void {
    const { pool } = this
    this.pool = this.connect()
    this.isAtStandby = false
    pool.close({ timeout: 0 }).catch(() => {})
  }
}

/** True after some time, for which nothing is kept alive. */
function late(ms: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  setTimeout(() => resolve(true), ms).unref()
  return promise
}

/** Rows as one value of a statement, which reads them by `json_populate_recordset` or `json_to_recordset`. */
export const asRows = (rows: readonly object[]): string => JSON.stringify(rows)
