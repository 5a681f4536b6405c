import { inTime } from '../../../scheduling/in-time.ts'
import { type PoolOptions, settingsOf } from './pools.ts'

/** A value for a placeholder in a statement: `$1`, `$2` and so on. */
export type Value = string | number | null

/**
 * How PostgreSQL is queried: over a pool, or within a transaction. Integers come as numbers, because all of
 * Cairn's are below 2^53.
 */
export interface Queries {
  all<Row>(text: string, ...values: readonly Value[]): Promise<Row[]>
  /** The first row; null if there is none. */
  get<Row>(text: string, ...values: readonly Value[]): Promise<Row | null>
  /** @returns how many rows it has written */
  run(text: string, ...values: readonly Value[]): Promise<number>
  /** Runs several statements without values in one round trip. All of them are kept, or none. */
  script(text: string): Promise<void>
}

/** How much later than the server this side gives a statement up for lost, milliseconds. */
const graceMs = 1_000

/** How long a pool that gets no more queries may take to close, milliseconds. */
const closesWithinMs = 10_000

type Client = Pick<Bun.SQL, 'unsafe'>

/**
 * The database has stopped, or its packets no longer arrive; the client has no time limit of its own. What was requested
 * may have been done all the same.
 */
class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  readonly code = 'ERR_POSTGRES_NO_ANSWER'

  constructor(afterMs: number) {
    super(`The database has not answered for ${afterMs / 1_000} s`)
  }
}

/** A write was sent to a read-only server. */
const readOnlyState = '25006'

/** The SQLSTATE of an error from the server; null for any other error. */
export function sqlStateOf(error: unknown): string | null {
  const { code, errno } = error as { code?: unknown; errno?: unknown }
  return code === 'ERR_POSTGRES_SERVER_ERROR' && typeof errno === 'string' ? errno : null
}

/**
 * Whether an error is passing and not the statement's own fault: it comes from the connection, the server's
 * state or capacity, or other transactions. Classes 22 (data), 23 (constraints) and P0 (raised) are a row's.
 */
export function isPassingProblem(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state === null ? isConnectionProblem(error) : !/^(22|23|42|P0)/.test(state)
}

const isConnectionProblem = (error: unknown) =>
  /^ERR_(POSTGRES|TLS|BORINGSSL)|^E[A-Z]+$|CERT|SIGNATURE/.test(
    String((error as { code?: unknown }).code ?? ''),
  )

function inNumbers<Row>(rows: readonly Record<string, unknown>[]): Row[] {
  for (const name of Object.keys(rows[0] ?? {})) {
    // All values of a column have one type, so the first one shows it.
    const first = rows.find(row => row[name] !== null)
    if (typeof first?.[name] !== 'bigint') continue
    for (const row of rows) if (row[name] !== null) row[name] = Number(row[name])
  }
  // A plain array, because Bun's own kind contains more than its rows.
  return Array.from(rows) as Row[]
}

/** Sends a query, and waits for the answer for as long as it may take. */
type Ask = <T>(ask: (client: Client) => PromiseLike<T>) => Promise<T>

abstract class Statements implements Queries {
  protected abstract readonly ask: Ask

  async all<Row>(text: string, ...values: readonly Value[]): Promise<Row[]> {
    return inNumbers<Row>(await this.ask(client => client.unsafe(text, [...values])))
  }

  async get<Row>(text: string, ...values: readonly Value[]): Promise<Row | null> {
    return (await this.all<Row>(text, ...values))[0] ?? null
  }

  async run(text: string, ...values: readonly Value[]): Promise<number> {
    const result = await this.ask(client => client.unsafe(text, [...values]))
    return (result as unknown as { count: number }).count
  }

  async script(text: string): Promise<void> {
    await this.ask(client => client.unsafe(text).simple())
  }
}

/** A statement came after one that failed in the same transaction. */
const abortedState = '25P02'

/** Statements on one connection, sent without waiting for each other. */
class OwnStatements extends Statements {
  private readonly underWay = new Set<Promise<unknown>>()
  /** The last failure that was not just a consequence of another. */
  private fault: unknown

  constructor(private readonly send: Ask) {
    super()
  }

  protected readonly ask: Ask = async ask => {
    const sent = this.send(ask)
    this.underWay.add(sent)
    try {
      return await sent
    } catch (error) {
      if (sqlStateOf(error) !== abortedState) this.fault = error
      // The failure of the earlier statement may be reported after this one.
      else await Promise.allSettled(this.underWay)
      throw this.fault ?? error
    } finally {
      this.underWay.delete(sent)
    }
  }
}

/** The query parameter that says that PgBouncer or the like is in between, and in which mode. */
const poolerParameter = 'pooler'

/**
 * Where a database is, and whether a pooler assigns connections by transaction (`?pooler=transaction`). Such a
 * pooler gives each statement another connection, and accepts no settings for a connection.
 */
function addressOf(text: string): { url: string; isPooled: boolean } {
  const url = new URL(text)
  const isPooled = url.searchParams.get(poolerParameter) === 'transaction'
  // Otherwise it would be passed to the server, which does not know it.
  if (isPooled) url.searchParams.delete(poolerParameter)
  return { url: isPooled ? url.href : text, isPooled }
}

/** A pool of connections to a database. */
export class Postgres extends Statements {
  /** Runs a single statement; behind a pooler in a transaction, which has this pool's settings. */
  protected readonly ask: Ask = ask =>
    this.options.isPooled
      ? this.within(client => this.watch(() => ask(client)))
      : this.watch(() => ask(this.current()))
  /** Another server has taken this one's place, and the address may lead to it by now. */
  private isAtStandby = false

  private constructor(
    private readonly connect: () => Bun.SQL,
    private readonly options: PoolOptions & { isPooled: boolean },
    private pool = connect(),
  ) {
    super()
  }

  /**
   * Connects at the first query, and again whenever the connection is lost.
   *
   * @param url with `pooler=transaction` in its query if PgBouncer in transaction mode is in between
   */
  static open(url: string, options: PoolOptions): Postgres {
    const { url: address, isPooled } = addressOf(url)
    const { most, answersWithinMs } = options
    const sqlOptions = {
      ...{ max: most, bigint: true, prepare: !isPooled },
      connectionTimeout: Math.min(10_000, answersWithinMs ?? 10_000) / 1_000,
      connection: isPooled ? {} : settingsOf(options),
    }
    // Not imported from 'bun', which would load the driver in every thread of a server that needs none.
    return new Postgres(() => new Bun.SQL(address, sqlOptions), { ...options, isPooled })
  }

  /**
   * Runs work within a transaction, which is committed if the work resolves.
   *
   * @param mode as `begin` takes it: `isolation level repeatable read, read only`
   */
  begin<T>(work: (transaction: Queries) => Promise<T>, mode = ''): Promise<T> {
    const sending = (client: Client) =>
      work(new OwnStatements(ask => this.watch(() => ask(client))))
    return this.within(sending, mode)
  }

  private async within<T>(work: (client: Client) => Promise<T>, mode = ''): Promise<T> {
    const begun = Promise.withResolvers<void>()
    const worked = Promise.withResolvers<void>()
    // Once the caller has given up waiting for the transaction to begin, nothing may be done in it.
    const isWanted = Promise.withResolvers<void>()
    isWanted.promise.catch(() => {})
    const start = () =>
      this.current().begin(mode, async client => {
        begun.resolve()
        try {
          await isWanted.promise
          if (this.options.isPooled) await this.setLocally(client)
          return await work(client)
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
  }

  /**
   * Reads a snapshot piece by piece, over a connection of its own, until everything is read or the reader gives
   * up.
   */
  async *asOfOneMoment<T>(read: (snapshot: Queries) => AsyncIterable<T>): AsyncGenerator<T> {
    const connection = await this.watch(() => this.current().reserve())
    const ask: Ask = ask => this.watch(() => ask(connection))
    try {
      const snapshot = new OwnStatements(ask)
      await snapshot.run('begin isolation level repeatable read, read only')
      if (this.options.isPooled) await this.setLocally(connection)
      yield* read(snapshot)
    } finally {
      // If the connection is lost, there is nothing to end.
      await ask(client => client.unsafe('commit')).catch(() => {})
      connection.release()
    }
  }

  /** @param isAtOnce rejects what is under way, whether or not it has taken effect */
  async close(isAtOnce = false): Promise<void> {
    const atOnce = { timeout: 0 }
    if (isAtOnce) return this.pool.close(atOnce)
    const closed = this.pool.close()
    const isLate = await Promise.race([closed.then(() => false), late(closesWithinMs)])
    if (isLate) await this.pool.close(atOnce)
  }

  /** Sets for each transaction what cannot be set for a connection. */
  private async setLocally(client: Client): Promise<void> {
    const settings = Object.entries(settingsOf(this.options))
    const calls = settings.map(([name, value]) => `set_config('${name}', '${value}', true)`)
    await this.watch(() => client.unsafe(`select ${calls.join(', ')}`))
  }

  private async watch<T>(ask: () => PromiseLike<T>): Promise<T> {
    const { pool } = this
    const { answersWithinMs } = this.options
    try {
      if (answersWithinMs === undefined) return await ask()
      const patienceMs = answersWithinMs + graceMs
      return await inTime(ask(), patienceMs, () => new NoAnswer(patienceMs))
    } catch (error) {
      // What was requested may never end.
      if (error instanceof NoAnswer && this.pool === pool) this.renew()
      if (sqlStateOf(error) === readOnlyState) this.isAtStandby = true
      throw error
    }
  }

  private current(): Bun.SQL {
    if (this.isAtStandby) this.renew()
    return this.pool
  }

  /** Gives up all connections, and whatever is under way on them. */
  private renew(): void {
    const { pool } = this
    this.pool = this.connect()
    this.isAtStandby = false
    pool.close({ timeout: 0 }).catch(() => {})
  }
}

/** Resolves to true after some time, without keeping the process alive. */
function late(ms: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  setTimeout(() => resolve(true), ms).unref()
  return promise
}
