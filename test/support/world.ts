import type { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type AppDeps,
  createApp,
  type Outside,
  type RequestSummary,
  routesOf,
  type Stores,
} from '../../src/app.ts'
import { type FlowWork, flowWorkHere } from '../../src/core/flow/work.ts'
import type { Catalogue } from '../../src/core/organisation/catalogue.ts'
import type { Limiter } from '../../src/core/organisation/limits.ts'
import type { Clock } from '../../src/core/time/clock.ts'
import { type SessionTokens, secretTokens } from '../../src/http/session-tokens.ts'
import { MemoryLimiter } from '../../src/limits/memory.ts'
import { outsideOf } from '../../src/runtime/outside.ts'
import type { Log, Member } from '../../src/storage/log/log.ts'
import type { InRows } from '../../src/storage/shared/in-rows.ts'
import { type BufferBounds, LiveState, slotOf } from '../../src/storage/shared/live-state.ts'
import { connectStores } from '../../src/storage/sqlite/connect.ts'
import { connectManagement } from '../../src/storage/sqlite/connect-management.ts'
import { openForReading } from '../../src/storage/sqlite/database/database.ts'
import { prepareDatabase } from '../../src/storage/sqlite/database/prepare.ts'
import type { BlockPolicy } from '../../src/storage/sqlite/engine/run-blocks/block-maker.ts'
import { idleBlocksMs, idleRetainMs } from '../../src/storage/sqlite/housekeeping.ts'
import type { FreePagesPolicy } from '../../src/storage/sqlite/retention/free-pages.ts'
import { Storage } from '../../src/storage/sqlite/storage.ts'
import { StorageCalls } from '../../src/storage/sqlite/writer/calls.ts'
import {
  defaultWriterPolicy,
  type WriterPolicy,
} from '../../src/storage/sqlite/writer/group-commit.ts'
import { longWorkHere } from '../../src/storage/sqlite/writer/long-work.ts'
import { HandClock } from './hand-clock.ts'
import { idleServer } from './idle-server.ts'
import { pooledLongWork } from './long-work-pool.ts'

/** SQLite answers every look-up of the catalogue in the same turn. */
type AtOnce<Port> = {
  [Name in keyof Port]: Port[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Exclude<Result, Promise<unknown>>
    : never
}

interface StoresAtOnce extends Stores {
  catalogue(): AtOnce<Catalogue>
}

export interface WorldOptions {
  /** That of a stopped world, to go on with; a new one by default. */
  dataDir?: string
  clock?: HandClock
  bufferBounds?: BufferBounds
  ack?: 'commit' | 'buffer'
  retentionDays?: number
  /** Used in place of tokens over the world's own secret. */
  sessionTokens?: (clock: Clock) => SessionTokens
  /** Makes a limiter over the one in memory, to be used in its place. */
  limiter?: (own: Limiter) => Limiter
  /** Makes stores over those of SQLite, to be used in their place. */
  stores?: (own: Stores) => Stores
  /** Done in this thread by default. */
  flowWork?: FlowWork
  /** Null for none. */
  dashboard?: Partial<NonNullable<AppDeps['dashboard']>> | null
  policy?: Partial<WriterPolicy>
  blockPolicy?: BlockPolicy
  freePages?: FreePagesPolicy
  isLogKept?: boolean
  /** The log of several machines that it follows. */
  following?: { log: Log; member: Member }
}

/**
 * The real service over a real database in a temporary folder, all in this thread: the same
 * storage, stores and app as in the binary, with a clock moved by hand.
 */
export class World {
  readonly dataDir: string
  readonly clock: HandClock
  readonly live: LiveState
  readonly answers: RequestSummary[] = []
  readonly broken: RequestSummary[] = []
  readonly signInFailures: Error[] = []
  /** By how many milliseconds storage says that the clock was changed. */
  readonly clockSettings: number[] = []
  readonly secret = new TextEncoder().encode('a secret that only this test world knows')
  readonly storage: Storage
  readonly reading: Database
  readonly snapshots: Database
  readonly app: ReturnType<typeof createApp>
  private readonly deps: AppDeps
  private door: ReturnType<typeof createApp> | null = null
  readonly stores: StoresAtOnce
  readonly management: ReturnType<typeof connectManagement>
  readonly tokens
  /** The way out of the machine, for messages of alerts. */
  outside: Outside
  readonly calls: StorageCalls

  constructor(options: WorldOptions = {}) {
    this.dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'cairn-test-'))
    this.clock = options.clock ?? new HandClock()
    this.outside = outsideOf({
      ...{ webhooksPrivate: 'on', publicUrl: 'https://cairn.example.com' },
      ...{ smtpUrl: null, mailFrom: null, data: this.dataDir },
    })
    prepareDatabase(this.dataDir).close()
    this.live = new LiveState(options.bufferBounds ?? { events: 50_000, bytes: 64 * 1024 * 1024 })
    this.storage = new Storage({
      dataDir: this.dataDir,
      live: this.live,
      clock: this.clock,
      onClockDoubt: byMs => this.clockSettings.push(byMs),
      policy: { ...defaultWriterPolicy, retryPauseMs: 1, ...options.policy },
      blockPolicy: options.blockPolicy,
      isLogKept: options.isLogKept,
      following: options.following && {
        ...options.following,
        // In a thread of its own, because a transaction that waits for the log holds the write lock.
        work: pooledLongWork(this.dataDir),
      },
      retention: { days: options.retentionDays ?? 90, freePages: options.freePages },
    })
    this.calls = new StorageCalls(this.storage, options.ack ?? 'commit')
    this.reading = openForReading(this.dataDir)
    this.snapshots = openForReading(this.dataDir)
    this.stores = connectStores(this.reading, this.snapshots, this.calls) as StoresAtOnce
    const { dataDir, clock } = this
    const work = options.following
      ? pooledLongWork(dataDir)
      : longWorkHere({ dataDir, now: clock.now, isServed: true })
    this.management = connectManagement(this.reading, this.calls, work)
    this.tokens = secretTokens({
      secret: this.secret,
      issuer: 'cairn',
      audience: 'cairn',
      type: null,
      organisationClaim: 'org',
      clock: this.clock,
    })
    const limiter = new MemoryLimiter(slotOf)
    this.deps = {
      clock: this.clock,
      stores: options.stores?.(this.stores) ?? this.stores,
      management: this.management,
      limiter: options.limiter?.(limiter) ?? limiter,
      flowWork: options.flowWork ?? flowWorkHere,
      tokens: options.sessionTokens?.(this.clock) ?? this.tokens,
      dashboard:
        options.dashboard === null
          ? null
          : {
              publicUrl: null,
              serverKey: () => this.secret,
              provider: () => null,
              onFailure: failure => this.signInFailures.push(failure),
              ...options.dashboard,
            },
      server: () => idleServer,
      alerts: { outside: () => this.outside, onChange: () => {} },
      retentionDays: options.retentionDays ?? 90,
      olderSnippetFile: async () => null,
      observers: [
        {
          responded: summary => this.answers.push(summary),
          brokeOff: summary => this.broken.push(summary),
        },
      ],
    }
    this.app = createApp(this.deps)
  }

  /** The same app as the operator reaches it, through the socket in the data directory. */
  get operatorsDoor(): ReturnType<typeof createApp> {
    this.door ??= createApp({ ...this.deps, isOperatorsDoor: true })
    return this.door
  }

  /** The stores as storage sees them, which knows everything by row number. */
  get byRow(): InRows<StoresAtOnce> {
    return this.stores as unknown as InRows<StoresAtOnce>
  }

  /** Every route of the public port, as the app declares it. */
  get routes() {
    return routesOf(this.deps)
  }

  /** For changes like the command line's: made on the writer's connection, then taken up. */
  get database(): Database {
    return this.storage.database
  }

  /** Makes all readers load what was changed behind their back. */
  takeUp(): void {
    this.storage.changes.refreshCatalogue()
  }

  /** Makes blocks of runs, as a server does in the background. */
  async makeBlocks(): Promise<void> {
    await this.storage.projected()
    while ((await this.storage.housekeeping.makeBlocks()) !== idleBlocksMs);
  }

  /** Deletes what has been kept long enough, as a server does in the background. */
  async retainAll(): Promise<void> {
    await this.storage.projected()
    while ((await this.storage.housekeeping.retain()) !== idleRetainMs);
  }

  /** Resolves once everything asked of storage, also what nobody waits for, is committed and projected. */
  async written(): Promise<void> {
    do await Bun.sleep(0)
    while (this.live.buffer.events > 0)
    await this.storage.projected()
  }

  /** Stops as a server does: another world can go on with its directory. */
  async stop(): Promise<void> {
    this.reading.close()
    this.snapshots.close()
    await this.storage.close()
  }

  async close(): Promise<void> {
    await this.stop()
    rmSync(this.dataDir, { recursive: true })
  }
}
