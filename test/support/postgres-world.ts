import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ManagementStores, Stores } from '../../src/app.ts'
import { connectPostgresStores } from '../../src/storage/postgres/connect.ts'
import {
  connectPostgresManagement,
  type ManagementReading,
} from '../../src/storage/postgres/connect-management.ts'
import { Postgres } from '../../src/storage/postgres/database/connection.ts'
import { readingPools } from '../../src/storage/postgres/database/pools.ts'
import type { SealPolicy } from '../../src/storage/postgres/segments/sealer.ts'
import { PostgresStorage, type PostgresStorageOptions } from '../../src/storage/postgres/storage.ts'
import { BufferGauge, newSharedMemory, type SharedMemory } from '../../src/storage/shared/boards.ts'
import { openForReading } from '../../src/storage/sqlite/database/database.ts'
import { StorageClient } from '../../src/storage/sqlite/writer/client.ts'
import { defaultWriterPolicy } from '../../src/storage/sqlite/writer/writer.ts'
import { HandClock } from './hand-clock.ts'

/** The databases whose copies were refilled, with one entry for each time. */
export const refilled: string[] = []

/** A node over a real PostgreSQL, all in this thread: the same storage and stores as in the binary. */
export class PostgresWorld {
  private following: ReturnType<typeof setInterval> | undefined
  private lastLook = Promise.resolve()

  private constructor(
    readonly url: string,
    readonly clock: HandClock,
    readonly storage: PostgresStorage,
    readonly stores: Stores,
    readonly management: ManagementStores,
    readonly shared: SharedMemory,
    private readonly reading: ManagementReading & { copyDir: string },
  ) {}

  static async open(
    url: string,
    clock = new HandClock(),
    node: Partial<PostgresStorageOptions['node']> = {},
    { sealPolicy, ack = 'commit' }: { sealPolicy?: SealPolicy; ack?: 'commit' | 'buffer' } = {},
  ): Promise<PostgresWorld> {
    const copyDir = mkdtempSync(join(tmpdir(), 'cairn-node-'))
    const shared = newSharedMemory()
    const bufferBounds = { events: 50_000, bytes: 64 * 1024 * 1024 }
    const storage = await PostgresStorage.open({
      ...{ url, copyDir, shared, clock, bufferBounds },
      policy: { ...defaultWriterPolicy, retryPauseMs: 1 },
      retentionDays: 90,
      sealPolicy,
      node: { name: 'test', release: '0.0.0', ...node },
      onRefilled: () => refilled.push(url),
      onFault: (error, what) => process.env.LOUD && console.error(what, error),
    })
    const client: StorageClient = new StorageClient(
      message => storage.inbox.take(message, answer => client.receive(answer)),
      new BufferGauge(shared.buffer, bufferBounds),
      ack,
    )
    const copy = openForReading(copyDir)
    const postgres = Postgres.open(url, { ...readingPools.requests, most: 2 })
    const analytics = Postgres.open(url, readingPools.analytics)
    const ofPeople = Postgres.open(url, readingPools.people)
    const reading = { copyDir, copy, postgres, analytics, ofPeople }
    const stores = connectPostgresStores(reading, client, shared, clock.monotonic)
    const management = connectPostgresManagement(reading, client, shared, clock.monotonic)
    return new PostgresWorld(url, clock, storage, stores, management, shared, reading)
  }

  /** Looks for what other nodes have changed, again and again until it is closed. */
  follow(everyMs = 10): this {
    this.following = setInterval(() => {
      this.lastLook = this.storage.watch()
    }, everyMs)
    return this
  }

  /** Seals all runs that have come to rest into segments. @returns how many segments were made */
  async sealAll(): Promise<number> {
    const { postgres, sealer } = this.storage
    const flows = await postgres.all<{ org_id: number; flow_id: number }>(
      'select distinct org_id, flow_id from runs order by 1, 2',
    )
    let made = 0
    for (const { org_id, flow_id } of flows) made += await sealer.seal(org_id, flow_id)
    return made
  }

  /** Stops as a node does: another can go on with its database. */
  async close(): Promise<void> {
    clearInterval(this.following)
    await this.lastLook
    const { copyDir, copy, postgres, analytics, ofPeople } = this.reading
    await this.storage.close()
    copy.close()
    await Promise.all([postgres, analytics, ofPeople].map(pool => pool.close()))
    rmSync(copyDir, { recursive: true })
  }
}
