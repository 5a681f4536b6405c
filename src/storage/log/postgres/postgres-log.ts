import { failing } from '../../../failpoints.ts'
import {
  ClockApart,
  CommitInDoubt,
  type Group,
  type Log,
  type LogBatch,
  LogInUse,
  type LogRow,
  LogUnavailable,
  maxApartMs,
  type NewSnapshot,
  NotInLog,
  type Page,
  type Position,
  type Snapshot,
} from '../log.ts'
import { type ColumnTypes, fromArrays, inArrays } from './arrays.ts'
import { isPassingProblem, Postgres, type Queries } from './connection.ts'
import { PostgresEventsTable } from './events-table.ts'
import { apart } from './nodes.ts'
import { setUpLog } from './open.ts'
import { pools } from './pools.ts'
import { dropSnapshots, snapshotParts, snapshotsIn, storeSnapshot } from './snapshots.ts'

/** Rows and batches of one page. */
const pageRows = 2_000
const pageBatches = 500

/** The pause before asking again for the outcome of a commit, and how long to ask, milliseconds. */
const askAgainMs = 100
const maxDoubtMs = 10_000

const batchTypes = {
  seq: 'bigint',
  org_id: 'bigint',
  received_at: 'bigint',
  source: 'integer',
  events: 'integer',
  asked: 'text',
  body: 'bytea',
} satisfies ColumnTypes

const rowTypes = { name: 'text', key: 'text', content: 'text' } satisfies ColumnTypes

/** A batch as PostgreSQL has it. */
interface BatchRow {
  seq: number
  org_id: number
  received_at: number
  source: number
  events: number
  asked: string | null
  body: Uint8Array
}

const batchOf = ({ org_id, received_at, ...rest }: BatchRow): LogBatch => ({
  ...{ orgRow: org_id, receivedAt: received_at, ...rest },
})

const columns = `seq::float8 as seq, org_id::float8 as org_id, received_at::float8 as received_at,
  source, events, asked, body`

const position = 'seq::float8 as seq, mark, at::float8 as at'
const clock = `select ${position}, erased::float8 as erased,
  (extract(epoch from clock_timestamp()) * 1000)::float8 as now from cairn_clock`

interface Clock extends Position {
  /** A directory that is not as far as this may still have what was erased. */
  erased: number
  /** By PostgreSQL's clock. */
  now: number
}

/** The log in PostgreSQL. One row is the sequencer: whoever appends has it locked, so numbers are in the order of commits. */
export class PostgresLog implements Log {
  private readonly writing: Postgres
  readonly following: Postgres
  readonly longWork: Postgres
  readonly events: PostgresEventsTable
  private asking: Promise<Position> | null = null
  clockError: ClockApart | null = null
  latest = Number.POSITIVE_INFINITY
  private readonly beforeCommit = failing('before_log_commit', () => {})

  private constructor(
    url: string,
    readonly id: string,
    private readonly now: (() => number) | null,
  ) {
    this.writing = Postgres.open(url, pools.writing)
    this.following = Postgres.open(url, pools.following)
    this.longWork = Postgres.open(url, pools.longWork)
    this.events = new PostgresEventsTable(this.longWork)
  }

  /**
   * Opens the log of a database, which is set up if it is empty.
   *
   * @param now this machine's clock, which has to agree with PostgreSQL's; null if it need not
   */
  static async open(url: string, now: (() => number) | null = null): Promise<PostgresLog> {
    const postgres = Postgres.open(url, { most: 1 })
    try {
      const { log } = await setUpLog(postgres)
      return new PostgresLog(url, log, now)
    } finally {
      await postgres.close()
    }
  }

  newest(): Promise<Position> {
    this.asking ??= this.askNewest().finally(() => {
      this.asking = null
    })
    return this.asking
  }

  private async askNewest(): Promise<Position> {
    // Whoever asks in this turn of the event loop shares the response, and nobody gets one of an earlier request.
    await new Promise<void>(resolve => setImmediate(resolve))
    const reading = available(this.readClock(this.following))
    this.asking = null
    return reading
  }

  /** Reads the sequencer, and compares the clocks of both machines. */
  private async readClock(queries: Queries, lock = ''): Promise<Clock> {
    const [before, sentAt] = [this.now?.() ?? null, performance.now()]
    const read = (await queries.get<Clock>(`${clock} ${lock}`))!
    if (before === null) return read
    const aheadMs = apart(before, read.now, performance.now() - sentAt)
    this.clockError = Math.abs(aheadMs) > maxApartMs ? new ClockApart(aheadMs) : null
    this.latest = Math.max(read.at, read.now + maxApartMs)
    return read
  }

  async *since(from: Position): AsyncGenerator<Page> {
    try {
      yield* this.following.asOfOneMoment(snapshot => this.pages(snapshot, from))
    } catch (error) {
      throw unavailable(error)
    }
  }

  async append(
    from: Position,
    work: (since: AsyncIterable<Page>) => Promise<Group | null>,
  ): Promise<void> {
    let sent: Position | null = null
    /** What the caller's own work has thrown, which says nothing of the log. */
    let ofWork: { error: unknown } | null = null
    try {
      await this.writing.begin(async transaction => {
        const locked = await this.readClock(transaction, 'for update')
        if (this.clockError) throw this.clockError
        let group: Group | null
        try {
          group = await work(this.pages(transaction, from, locked))
        } catch (error) {
          ofWork = { error }
          throw error
        }
        if (group === null) return
        await this.write(transaction, locked, group)
        this.beforeCommit()
        sent = group.to
      })
    } catch (error) {
      // Before the commit was sent, nothing can have been committed. An error of the commit itself may come from
      // a pooler, or from a server that stops after the commit.
      if (ofWork !== null) throw (ofWork as { error: unknown }).error
      if (sent === null || !(await this.isKept(sent))) throw unavailable(error)
    }
  }

  /**
   * @param locked the sequencer, if the caller has it
   * @throws NotInLog, LogUnavailable
   */
  private async *pages(
    queries: Queries,
    from: Position,
    locked: Clock | null = null,
  ): AsyncGenerator<Page> {
    try {
      yield* this.pagesOf(queries, from, locked)
    } catch (error) {
      throw unavailable(error)
    }
  }

  private async *pagesOf(
    queries: Queries,
    from: Position,
    locked: Clock | null,
  ): AsyncGenerator<Page> {
    const to = locked ?? (await queries.get<Clock>(clock))!
    if (to.seq === from.seq && to.mark === from.mark) return
    await this.requireKnown(queries, from, to)
    // No row has an empty name, so none of the position's own group comes again.
    let [after, name, key] = [from.seq + 1, '', '']
    for (;;) {
      const rows = await queries.all<LogRow & { seq: number }>(
        `select name as table, key, content::text as content, seq::float8 as seq from cairn_rows
        where (seq, name, key) > ($1, $2, $3) and seq <= $4 order by seq, name, key limit ${pageRows}`,
        ...[after, name, key, to.seq],
      )
      const isLast = rows.length < pageRows
      const last = rows.at(-1)
      if (last) [after, name, key] = [last.seq, last.table, last.key]
      if (rows.length > 0) yield { rows, batches: [], to: null }
      if (isLast) break
    }
    for (let seq = from.seq; ; ) {
      const found = await queries.all<BatchRow>(
        `select ${columns} from cairn_ledger where seq > $1 and seq <= $2 order by seq limit ${pageBatches}`,
        ...[seq, to.seq],
      )
      if (found.length < pageBatches) {
        yield { rows: [], batches: found.map(batchOf), to }
        return
      }
      // A page ends with a group, unless one is larger.
      const end = await queries.get<Position>(
        `select ${position} from cairn_marks where seq > $1 and seq <= $2 order by seq desc limit 1`,
        ...[seq, found.at(-1)!.seq],
      )
      const batches = found.map(batchOf).filter(batch => end === null || batch.seq <= end.seq)
      yield { rows: [], batches, to: end }
      seq = batches.at(-1)!.seq
    }
  }

  /** @throws NotInLog */
  private async requireKnown(queries: Queries, from: Position, { seq, erased }: Clock) {
    if (from.seq > seq) throw new NotInLog(`The log ends at ${seq}, and was at ${from.seq}`)
    if (from.seq < erased) {
      throw new NotInLog(
        `What was erased up to ${erased} may still be in a database of ${from.seq}`,
      )
    }
    const known = await queries.get<{ mark: string }>(
      'select mark from cairn_marks where seq = $1',
      from.seq,
    )
    if (known === null) throw new NotInLog(`Entries after ${from.seq} are no longer kept`)
    if (known.mark !== from.mark)
      throw new NotInLog(`The log has a different history since ${from.seq}`)
  }

  private async write(transaction: Queries, from: Position, group: Group) {
    const { batches, rows, to, isChange = false } = group
    const [written] = await Promise.all([
      transaction.run(
        `update cairn_clock set seq = $1, mark = $2, at = $3, changed = greatest(changed, $6)
        where seq = $4 and mark = $5`,
        ...[to.seq, to.mark, to.at, from.seq, from.mark, isChange ? to.seq : 0],
      ),
      transaction.run(
        'insert into cairn_marks (seq, mark, at) values ($1, $2, $3)',
        ...[to.seq, to.mark, to.at],
      ),
      insertBatches(transaction, batches),
      insertRows(transaction, rows, to.seq),
    ])
    if (written !== 1) throw new Error('Another server has written to the log')
  }

  /** Waits for a transaction that may still be under way, because it has the sequencer. */
  private async isKept({ seq, mark }: Position): Promise<boolean> {
    const deadline = performance.now() + maxDoubtMs
    for (;;) {
      try {
        return await this.following.begin(async queries => {
          await queries.get(`${clock} for update`)
          const found = await queries.get<{ mark: string }>(
            'select mark from cairn_marks where seq = $1',
            seq,
          )
          return found?.mark === mark
        })
      } catch (cause) {
        if (performance.now() > deadline)
          throw new CommitInDoubt('The outcome of a commit could not be looked up', { cause })
        await Bun.sleep(askAgainMs)
      }
    }
  }

  async check(from: Position): Promise<void> {
    const { following } = this
    const clockNow = (await available(following.get<Clock>(clock)))!
    await available(this.requireKnown(following, from, clockNow))
  }

  snapshots(): Promise<Snapshot[]> {
    return available(snapshotsIn(this.following))
  }

  parts(snapshot: Snapshot): AsyncIterable<Uint8Array> {
    return snapshotParts(this.longWork, snapshot.id)
  }

  store(snapshot: NewSnapshot, parts: AsyncIterable<Uint8Array>): Promise<void> {
    return available(storeSnapshot(this.longWork, snapshot, parts))
  }

  async drop(snapshots: readonly Snapshot[]): Promise<void> {
    await dropSnapshots(
      this.longWork,
      snapshots.map(({ id }) => id),
    )
    const { longWork } = this
    // A node that runs may be some groups behind the newest snapshot, which may be the only one.
    await longWork.run(
      `delete from cairn_marks where seq < least(
        (select min(seq) from cairn_snapshots),
        (select min(took_up) from cairn_nodes where lease_until > clock_timestamp()))
      and exists (select from cairn_snapshots)`,
    )
    const oldest = await this.oldestPosition()
    // Whoever takes up what follows that position never had these rows.
    await longWork.run('delete from cairn_rows where content is null and seq <= $1', oldest)
  }

  /** The oldest position that a database may go on from. Whoever still takes up what is before it has finished. */
  private async oldestPosition(): Promise<number> {
    const { longWork } = this
    const { oldest } = (await longWork.get<{ oldest: number }>(
      'select min(seq)::float8 as oldest from cairn_marks',
    ))!
    await longWork.begin(transaction => transaction.get(`${clock} for update`))
    return oldest
  }

  async overwrite(batches: readonly Pick<LogBatch, 'seq' | 'body'>[]): Promise<void> {
    const bodies = batches.map(({ seq, body }) => ({ seq, body: `\\x${body.toHex()}` }))
    const types = { seq: batchTypes.seq, body: batchTypes.body }
    await this.longWork.run(
      `update cairn_ledger as l set body = k.body from ${fromArrays(types)} where l.seq = k.seq`,
      ...inArrays(types, bodies),
    )
  }

  async erased(seq: number, tables: readonly string[]): Promise<void> {
    await this.longWork.begin(async transaction => {
      await transaction.run('update cairn_clock set erased = greatest(erased, $1)', seq)
      await transaction.run(
        `delete from cairn_rows
        where seq <= $1 and name in (select json_array_elements_text($2::text::json))`,
        ...[seq, JSON.stringify(tables)],
      )
    })
  }

  async fill(to: Position, pages: AsyncIterable<Omit<Page, 'to'>>): Promise<void> {
    const { longWork } = this
    const { seq } = (await longWork.get<Clock>(clock))!
    if (seq !== 0) throw new LogInUse('The database already holds data of Cairn')
    await longWork.script('truncate cairn_ledger, cairn_rows')
    for await (const { batches, rows } of pages) {
      await insertBatches(longWork, batches)
      await insertRows(longWork, rows, to.seq)
    }
    await longWork.begin(async transaction => {
      const beginning = (await transaction.get<Clock>(`${clock} for update`))!
      if (beginning.seq !== 0) throw new LogInUse('Another server has started to use the database')
      await this.write(transaction, beginning, { to, batches: [], rows: [], isChange: true })
    })
  }

  async end(movedTo: string): Promise<void> {
    await this.longWork.run('update cairn_clock set moved_to = $1', movedTo)
  }

  async retain(upTo: ReadonlyMap<number, number>): Promise<void> {
    const types = { org_id: 'bigint', seq: 'bigint' } satisfies ColumnTypes
    const rows = [...upTo].map(([org_id, seq]) => ({ org_id, seq }))
    // No index leads to an organisation's batches, but what arrived early has low numbers.
    await this.longWork.run(
      `delete from cairn_ledger as l using ${fromArrays(types)}
      where l.seq <= $3 and l.org_id = k.org_id and l.seq <= k.seq`,
      ...inArrays(types, rows),
      Math.min(Math.max(0, ...upTo.values()), await this.oldestPosition()),
    )
  }

  /** The nodes that run, by name. */
  async running(): Promise<string[]> {
    const rows = await this.following.all<{ name: string }>(
      'select name from cairn_nodes where lease_until > clock_timestamp() order by name',
    )
    return rows.map(({ name }) => name)
  }

  async close(): Promise<void> {
    await Promise.all([this.writing, this.following, this.longWork].map(pool => pool.close()))
  }
}

async function insertBatches(queries: Queries, batches: readonly LogBatch[]): Promise<void> {
  if (batches.length === 0) return
  const rows = batches.map(({ orgRow, receivedAt, body, ...batch }) => ({
    ...{ ...batch, org_id: orgRow, received_at: receivedAt },
    body: `\\x${body.toHex()}`,
  }))
  await queries.run(
    `insert into cairn_ledger (${Object.keys(batchTypes)}) select * from ${fromArrays(batchTypes)}`,
    ...inArrays(batchTypes, rows),
  )
}

async function insertRows(queries: Queries, rows: readonly LogRow[], seq: number): Promise<void> {
  if (rows.length === 0) return
  const named = rows.map(({ table, key, content }) => ({ name: table, key, content }))
  await queries.run(
    `insert into cairn_rows (name, key, content, seq)
    select name, key, content::json, ${seq} from ${fromArrays(rowTypes)}
    on conflict (name, key) do update set content = excluded.content, seq = excluded.seq`,
    ...inArrays(rowTypes, named),
  )
}

/** The error of a database that is away, in the words of the port. */
function unavailable(error: unknown): unknown {
  if (!isPassingProblem(error)) return error
  return new LogUnavailable('The database of the log does not answer', { cause: error })
}

async function available<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw unavailable(error)
  }
}
