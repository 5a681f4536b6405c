import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BufferGauge, newSharedMemory } from '../../shared/boards.ts'
import type { Stores } from '../../sqlite/connect.ts'
import { connectStores } from '../../sqlite/connect.ts'
import { openForReading, openForWriting } from '../../sqlite/database/database.ts'
import { prepareDatabase } from '../../sqlite/database/prepare.ts'
import { StorageClient } from '../../sqlite/writer/client.ts'
import { connectPostgresStores } from '../connect.ts'
import { CatalogueCopy } from '../copy/copy.ts'
import { Postgres } from '../database/connection.ts'
import { Transactions } from '../writer/transactions.ts'

/** What is stored, read as by a server that nobody writes to. */
export interface View {
  stores: Stores
  /** Ids of all flows that were ever published. */
  flowIds: readonly string[]
  close(): Promise<void>
}

const shared = newSharedMemory

/** A client for stores that nobody writes to. */
const nobody = () =>
  new StorageClient(() => {}, new BufferGauge(shared().buffer, { events: 1, bytes: 1 }), 'commit')

const flowIdsIn = (directory: string) => {
  using database = openForReading(directory)
  return database
    .query<{ id: string }, []>(
      `select public_id as id from flows
      where exists (select 1 from flow_versions where flow_id = flows.id) order by flows.id`,
    )
    .all()
    .map(({ id }) => id)
}

/** @param dataDir where its database is */
export function viewOfDirectory(dataDir: string): View {
  const [reading, snapshots] = [openForReading(dataDir), openForReading(dataDir)]
  return {
    stores: connectStores(reading, snapshots, nobody(), shared()),
    flowIds: flowIdsIn(dataDir),
    async close() {
      reading.close()
      snapshots.close()
    },
  }
}

export async function viewOfDatabase(url: string, now: () => number): Promise<View> {
  const copyDir = mkdtempSync(join(tmpdir(), 'cairn-move-'))
  const postgres = Postgres.open(url, { most: 1 })
  const analytics = Postgres.open(url, { most: 2, plansAnew: true })
  try {
    prepareDatabase(copyDir, now()).close()
    const writing = openForWriting(copyDir)
    const filling = new CatalogueCopy(writing, postgres, new Transactions(postgres), now)
    await filling.fill().finally(() => writing.close())
    const copy = openForReading(copyDir)
    return {
      stores: connectPostgresStores(
        { copy, postgres, analytics },
        ...([nobody(), shared(), () => performance.now()] as const),
      ),
      flowIds: flowIdsIn(copyDir),
      async close() {
        copy.close()
        await close()
      },
    }
  } catch (error) {
    await close()
    throw error
  }

  async function close() {
    await Promise.all([postgres.close(true), analytics.close(true)])
    rmSync(copyDir, { recursive: true, force: true })
  }
}
