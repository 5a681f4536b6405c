import type { Database } from 'bun:sqlite'
import type { Clock } from '../../core/time/clock.ts'
import type { ActivityCall } from '../shared/activity/live-activity.ts'
import {
  type BufferBounds,
  BufferGauge,
  LagBoard,
  PresenceBoard,
  ProgressBoard,
  type SharedMemory,
  WatchBoard,
} from '../shared/boards.ts'
import { IdentityBoard } from '../shared/identity-board.ts'
import { NodeBoard } from '../shared/node-board.ts'
import { StoredCatalogue } from '../sqlite/catalogue/catalogue.ts'
import { openForReading, openForWriting } from '../sqlite/database/database.ts'
import { prepareDatabase } from '../sqlite/database/prepare.ts'
import { ColumnSegments } from '../sqlite/engine/column-segments/column-segments.ts'
import { defaultSealPolicy } from '../sqlite/engine/column-segments/sealer.ts'
import { Echo } from '../sqlite/erasure/echo.ts'
import { ErasedPeople } from '../sqlite/erasure/erased-people.ts'
import { Withholding } from '../sqlite/erasure/withheld.ts'
import { PresenceTable } from '../sqlite/organisations/presence-table.ts'
import { ClockWatch } from '../sqlite/retention/clock-watch.ts'
import type { RetentionReport } from '../sqlite/retention/retention.ts'
import { CommandExecutor } from '../sqlite/writer/commands.ts'
import { Inbox } from '../sqlite/writer/messages.ts'
import {
  type Operation,
  operate,
  operationsOver,
  type StorageOperations,
} from '../sqlite/writer/operations.ts'
import type { WriteObserver, WriterPolicy } from '../sqlite/writer/writer.ts'
import { SharedActivity } from './activity/shared-activity.ts'
import { authorSessionsOver, previewsOver } from './author/short-lived.ts'
import { CatalogueCopy, CopyIsBehind } from './copy/copy.ts'
import { isPassingFault, Postgres, tookTooLong } from './database/connection.ts'
import { isUsable, schemaOf } from './database/migrate.ts'
import { storagePools } from './database/pools.ts'
import { requireNoMove } from './move/moves.ts'
import { holdJob, mayGoByTime } from './nodes/jobs.ts'
import { ClusterNode, type NodeOptions } from './nodes/nodes.ts'
import { Visibility } from './nodes/visibility.ts'
import { postgresOperations } from './operations.ts'
import { finishErasures } from './people/erase-person.ts'
import { type LongWorkParts, longWorkOver } from './people/long-work.ts'
import { PresenceTable as SeenTable } from './presence/presence-table.ts'
import { Scratch } from './projections/scratch.ts'
import { otherOldRows } from './retention/others.ts'
import { makePartitions } from './retention/partitions.ts'
import { Retention } from './retention/retention.ts'
import { Sealer, type SealPolicy } from './segments/sealer.ts'
import { GroupExecutor } from './writer/executor.ts'
import { GroupWriter } from './writer/group-writer.ts'
import { RunNumberBlock } from './writer/run-numbers.ts'
import { Transactions } from './writer/transactions.ts'

export interface PostgresStorageOptions {
  url: string
  /** An empty directory, where the node's copy of what management keeps is made. */
  copyDir: string
  shared: SharedMemory
  clock: Clock
  bufferBounds: BufferBounds
  policy: WriterPolicy
  /** How long events are kept by organisations that have no retention of their own. */
  retentionDays: number
  sealPolicy?: SealPolicy
  /** The wall clock may be wrong, so nothing is deleted for its age for an hour. See `ClockWatch`. */
  onClockDoubt?: (byMs: number, since: 'set' | 'start') => void
  onRetained?: (report: RetentionReport) => void
  /**
   * This node's name and release, and what concerns its lease (`now` as in `NodeOptions`); null for a command,
   * because nobody waits for one.
   */
  node:
    | ({ name: string; release: string } & Pick<NodeOptions, 'now' | 'lease' | 'onRenewed'>)
    | null
  observer?: WriteObserver
  /** Storage refuses writes, or something was set aside. */
  onFault?: (error: unknown, what: string) => void
  /** Storage takes writes again after it had refused. */
  onHealed?: () => void
  /** The copy of what management keeps had a gap and was filled again. */
  onRefilled?: () => void
  /** Memory no longer agrees with what is stored: only a restart helps. */
  onDivergence?: (error: unknown) => void
}

/** How long to wait before looking again for what was kept long enough, and between two pieces, milliseconds. */
const idleRetainMs = 10_000
const betweenPiecesMs = 20

/** How long the node that deletes holds that job without renewing it, milliseconds. */
const retentionJobMs = 60_000

/** @throws Error if the schema changed after it was inspected: a migration sees only nodes that have joined */
async function requireUsable(postgres: Postgres): Promise<void> {
  const schema = await schemaOf(postgres)
  if (await isUsable(postgres, schema)) return
  throw new Error(`The database has schema ${schema} by now, which this release does not know`)
}

/** Operations that note something in passing. Nobody asks for it in the next moment, so nobody waits for nodes. */
const nobodyWaits: ReadonlySet<string> = new Set<keyof StorageOperations>([
  'noteTokenUse',
  'noteSeen',
  'noteAttempt',
  'forgetAlerts',
])

/**
 * The writer of a node: assembles its parts, passes each message to the part that it is for, and closes them. To
 * the threads that answer requests it looks like the storage over SQLite.
 */
export class PostgresStorage {
  /** For changes by management, and periodic work. */
  readonly postgres: Postgres
  readonly transactions: Transactions
  /** For groups of events and reports. */
  readonly groups: Transactions
  readonly copy: CatalogueCopy
  /** Null for a command, which takes up the changes of others before each request. */
  readonly node: ClusterNode | null
  private readonly visibility: Visibility
  private readonly board: NodeBoard
  retentionDays: number
  readonly writer: GroupWriter
  readonly inbox: Inbox
  readonly withholding: Withholding
  private readonly retention: Retention
  private readonly writing: Postgres
  private readonly following: Postgres
  private readonly longPool: Postgres
  /** For work that takes long. */
  readonly longWork: LongWorkParts
  /** Makes segments of runs. */
  readonly sealer: Sealer
  private readonly reading: Database
  private readonly catalogue: StoredCatalogue
  private readonly operations: StorageOperations
  private readonly ownOperations: ReturnType<typeof postgresOperations>
  private readonly seen: SeenTable
  private readonly gauge: BufferGauge
  private readonly generation: Int32Array
  private readonly activity: SharedActivity
  private readonly authors
  private readonly previews
  private knownChange = -1

  private constructor(private readonly options: PostgresStorageOptions) {
    const { copyDir, shared, clock } = options
    const { now, monotonic } = clock
    const { writing, changes, following, longWork } = storagePools
    this.writing = Postgres.open(options.url, writing)
    this.postgres = Postgres.open(options.url, changes)
    this.following = Postgres.open(options.url, following)
    this.longPool = Postgres.open(options.url, longWork)
    this.transactions = new Transactions(this.postgres, this.following)
    this.groups = new Transactions(this.writing, this.following)
    prepareDatabase(copyDir, now()).close()
    const ownCopy = openForWriting(copyDir)
    // The copy is made anew at each start.
    ownCopy.run('pragma synchronous = off')
    this.copy = new CatalogueCopy(
      ...([ownCopy, this.following, this.transactions, now, options.onRefilled] as const),
    )
    this.reading = openForReading(copyDir)
    this.catalogue = new StoredCatalogue(this.reading)
    this.gauge = new BufferGauge(shared.buffer, options.bufferBounds)
    this.generation = new Int32Array(shared.generation)
    this.activity = new SharedActivity(this.following, new WatchBoard(shared.watch), now)
    this.authors = authorSessionsOver(this.transactions)
    this.previews = previewsOver(this.transactions)
    this.seen = new SeenTable(
      this.postgres,
      new PresenceBoard(shared.presence),
      new IdentityBoard(shared.identity),
    )
    const historyOf = (orgRow: number, flowRow: number) => {
      const flow = this.catalogue.flowByRow(orgRow, flowRow)
      if (!flow) throw new Error(`No flow has row ${flowRow}`)
      return flow
    }
    const runNumbers = new RunNumberBlock(this.writing)
    const executor = new GroupExecutor(this.catalogue, new Scratch(historyOf, runNumbers))
    this.withholding = new Withholding(executor, new ErasedPeople(this.reading), this.echo())
    this.writer = new GroupWriter(
      {
        ...{ executor, runNumbers, catalogue: this.catalogue },
        ...{ transactions: this.groups, withholding: this.withholding },
      },
      options.policy,
      {
        observer: options.observer,
        upToDate: change => this.upToDate(change),
        onSkew: (...args) => this.seen.addSkew(...args),
        onSettled: () => this.inbox.answers.send(),
        onFault: options.onFault,
        onDivergence: options.onDivergence,
        onRefusing: isRefused => {
          // A probe and a commit may both find at the same time that the database is back.
          if (isRefused === this.gauge.isRefused) return
          this.gauge.isRefused = isRefused
          if (!isRefused) options.onHealed?.()
        },
      },
    )
    this.inbox = new Inbox(
      this.gauge,
      pending => this.writer.submit(pending),
      {
        operate: (operation, tell) => this.operate(operation, tell),
        // Everything that is committed is projected already.
        project: () => null,
        look: call => this.look(call),
        author: call => this.authors.call(call),
        preview: call => this.previews.call(call),
      },
      error => isPassingFault(error) || error instanceof CopyIsBehind,
    )
    this.operations = operationsOver(ownCopy, copyDir, this.withholding, now, () => () => {})
    this.retentionDays = options.retentionDays
    this.retention = new Retention({
      ...{ postgres: this.longPool, copy: this.reading, clock },
      clockWatch: new ClockWatch(clock, options.onClockDoubt),
      others: otherOldRows,
    })
    this.longWork = longWorkOver({
      ...{ postgres: this.longPool, following: this.following, reading: this.reading },
      ...{ copy: this.copy, now },
      noticed: () => this.noticed(),
      upToDate: change => this.upToDate(change),
    })
    this.sealer = new Sealer(
      {
        ...{ transactions: this.transactions, reading: this.reading, now },
        flowOf: (...flow) => this.catalogue.flowByRow(...flow),
        upToDate: change => this.upToDate(change),
        onFault: options.onFault,
      },
      options.sealPolicy,
    )
    this.ownOperations = postgresOperations({
      ...{ copy: this.copy, longWork: this.longWork, retrying: this, sealer: this.sealer },
      now,
      writeSeen: () => this.writeSeen(),
    })
    this.board = new NodeBoard(shared.node)
    this.visibility = new Visibility(this.following, this.board, options.node?.lease)
    this.node =
      options.node &&
      new ClusterNode({
        ...{ queries: this.following, monotonic, startedAt: now(), board: this.board },
        ...options.node,
        onFault: error => this.writer.suspect(error),
      })
  }

  /**
   * Copies what management keeps, and joins the nodes.
   *
   * @throws MoveRefused if a move into the database is not done
   */
  static async open(options: PostgresStorageOptions): Promise<PostgresStorage> {
    const storage = new PostgresStorage(options)
    try {
      await storage.node?.join()
      // A migration or a move that begins from now on finds this node.
      await requireUsable(storage.postgres)
      await requireNoMove(storage.postgres)
      await storage.copy.fill()
      storage.noticed()
      await storage.node?.tell()
      if (storage.node === null) return storage
      await makePartitions(storage.longPool, options.clock.now())
      return storage
    } catch (error) {
      // Otherwise other nodes would wait for it until its lease has run out.
      await storage.node?.leave().catch(() => {})
      await Promise.all(storage.pools.map(pool => pool.close(true)))
      throw error
    }
  }

  /**
   * Takes up what other nodes have changed, and tells them so. To be called every so often; costs one statement
   * if nothing has changed.
   */
  async watch(): Promise<void> {
    const at = this.options.clock.monotonic()
    try {
      await this.copy.follow()
      this.noticed()
      this.board.followedAt = at
      await this.node?.tell()
      await this.activity.turn()
      await this.writer.probe()
    } catch (error) {
      if (isPassingFault(error)) this.writer.suspect(error)
      else this.options.onDivergence?.(error)
    }
  }

  /** Writes what is only noted in memory: who was seen when, and how user hashes were judged. */
  async writeSeen(): Promise<void> {
    // While storage refuses, trying would only fill the log. What was seen stays in memory meanwhile.
    if (!this.gauge.isRefused)
      await this.whileThere(() => this.seen.write(this.options.clock.now()))
  }

  /**
   * Does a piece of the retention's work, if this is the node that has that job. To be called again after the
   * pause that it returns, milliseconds.
   */
  async retain(): Promise<number> {
    const { node, gauge } = this
    if (gauge.isRefused || node === null || !mayGoByTime(this.board)) return idleRetainMs
    const report = await this.whileThere(async () =>
      (await holdJob(this.following, 'retention', node.id, retentionJobMs))
        ? this.retention.retain(this.retentionDays)
        : null,
    )
    if (report) this.options.onRetained?.(report)
    return report?.isMoreLeft ? betweenPiecesMs : idleRetainMs
  }

  /** Measures the database for monitoring. If it is down, its last known size stays. To be called now and then. */
  async measure(): Promise<void> {
    const size = await this.longPool
      .get<{ bytes: number }>('select pg_database_size(current_database()) as bytes')
      .catch(() => null)
    if (size) this.board.databaseBytes = size.bytes
  }

  /** Finishes erasures whose node died while it was doing them. To be called now and then. */
  async finishErasures(): Promise<void> {
    if (this.gauge.isRefused || this.node === null) return
    await this.whileThere(() => finishErasures(this.longWork))
  }

  /** Runs work that is retried later anyway. If the database is down, the writer reports that, and only once. */
  private async whileThere<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      return await work()
    } catch (error) {
      if (!isPassingFault(error)) throw error
      if (tookTooLong(error)) this.options.onFault?.(error, 'housekeeping took too long')
      else this.writer.suspect(error)
      return null
    }
  }

  private get pools(): Postgres[] {
    return [this.writing, this.postgres, this.following, this.longPool]
  }

  /** Commits everything that waits. Returns the number of commands that could not be committed. */
  flush(): Promise<number> {
    return this.writer.flush()
  }

  /**
   * Flushes and closes.
   *
   * @throws Error if something that was acknowledged (`ack=buffer`) cannot be written
   */
  async close(): Promise<void> {
    this.sealer.stop()
    await this.writer.flushAtLast()
    try {
      await this.writeSeen()
      await this.node?.leave()
    } catch (error) {
      this.options.onFault?.(error, 'what was seen last was not written')
    }
    this.reading.close()
    this.copy.database.close()
    await Promise.all(this.pools.map(pool => pool.close()))
  }

  /** Notes what arrived, or reports it; nothing of people who were erased. */
  private async look(call: ActivityCall): Promise<unknown> {
    if ('after' in call) return this.activity.read(call.orgRow, call.after)
    const events = this.withholding.ofOthers(call.orgRow, call.events)
    this.activity.note(call.orgRow, events, call.left)
    return null
  }

  /**
   * Carries out what management asks for. Before the answer leaves, every thread of this node knows about it, and
   * the other nodes have been waited for.
   */
  private async operate(
    { name, input, ...operation }: Operation,
    tell: (progress: object) => void,
  ): Promise<unknown> {
    const { made } = this.copy
    const own = this.ownOperations[name as keyof ReturnType<typeof postgresOperations>] as
      | ((...input: readonly unknown[]) => Promise<unknown>)
      | undefined
    const result = await (own
      ? own(...input, tell)
      : this.copy.alter(() => operate(this.operations, { name, input, ...operation })))
    this.noticed()
    // The operation is committed whether or not this fails. Whoever reads the activity tries again.
    await this.activity.forgotten().catch(() => {})
    if (this.copy.made > made && !nobodyWaits.has(name)) await this.visibility.wait(this.copy.made)
    return result
  }

  /**
   * Brings everything in memory up to date with the copy, and begins to tell others so.
   *
   * @returns whether there was anything new
   */
  private noticed(): boolean {
    const { change } = this.copy
    if (change === this.knownChange) return false
    this.catalogue.refresh()
    if (this.withholding.look()) this.activity.forget()
    Atomics.add(this.generation, 0, 1)
    this.knownChange = change
    this.node?.takeUp(change)
    // The change is committed whether or not this fails: the next look tells again.
    this.node?.tell().catch(() => {})
    return true
  }

  private async upToDate(change: number): Promise<boolean> {
    await this.copy.reach(change)
    return this.noticed()
  }

  /** What answers people who were erased: in memory, and with the same code as in a server alone. */
  private echo(): Echo {
    const { shared, clock } = this.options
    return new Echo(shared.echo, database => {
      const boards = {
        progress: new ProgressBoard(shared.progress),
        lag: new LagBoard(LagBoard.memory()),
        now: clock.now,
      }
      const presence = new PresenceTable(database, new PresenceBoard(PresenceBoard.memory(1)))
      const segments = new ColumnSegments(database, clock.monotonic, defaultSealPolicy)
      return new CommandExecutor(database, this.catalogue, presence, segments, boards)
    })
  }
}
