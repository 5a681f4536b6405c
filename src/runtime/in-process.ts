import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp, type Outside, type RequestSummary } from '../app.ts'
import { readConfig } from '../config/read-config.ts'
import { unauthorized } from '../core/errors.ts'
import { longestRetentionDays } from '../core/organisation/catalogue.ts'
import type { Clock } from '../core/time/clock.ts'
import { armFailpoints } from '../failpoints.ts'
import { SharedMemoryLimiter } from '../limits/shared-memory.ts'
import { Postgres } from '../storage/postgres/database/connection.ts'
import { inspectDatabase } from '../storage/postgres/database/inspection.ts'
import { leftBehind } from '../storage/postgres/move/moves.ts'
import { PostgresStorage } from '../storage/postgres/storage.ts'
import {
  BufferGauge,
  mostOrganisations,
  newSharedMemory,
  slotOf,
} from '../storage/shared/boards.ts'
import { Storage, type StorageOptions } from '../storage/sqlite/storage.ts'
import { StorageClient } from '../storage/sqlite/writer/client.ts'
import type { Inbox } from '../storage/sqlite/writer/messages.ts'
import { defaultWriterPolicy } from '../storage/sqlite/writer/writer.ts'
import { outsideOf, settingsOfOutside } from './outside.ts'
import { emptyCopyDir, notMoved, type StoragePlace } from './place.ts'
import { sessionKey, shareSessionKey } from './session-key.ts'
import { beforeSignal } from './signals.ts'
import { connectStorage } from './storage.ts'
import { systemClock } from './system-clock.ts'

/** The operator's way in, with or without a running server. */
export interface Door {
  fetch(request: Request): Promise<Response>
  /** The fault behind the newest answer, if that was a fault and not a refusal. It is in no log. */
  readonly fault: unknown
  /** What the operator should know about the storage that this leads to; null if all is well. */
  readonly warning: string | null
  close(): Promise<void>
}

const bufferBounds = { events: 10_000, bytes: 256 * 1024 ** 2 }

/** The parts of either storage that a command uses. */
interface OpenStorage {
  readonly inbox: Inbox
  close(): Promise<void>
}

/** The options that it is given. */
type Told = Pick<StorageOptions, 'shared' | 'clock' | 'bufferBounds' | 'policy'>

function openDirectory(dataDir: string, told: Told): OpenStorage {
  // Nothing is deleted in passing, because this process may not have the server's settings.
  return new Storage({ ...told, dataDir, retention: { days: longestRetentionDays } })
}

/** The copy of the management data, and the key, go into a directory that nobody else looks at. */
async function openDatabase(
  url: string,
  { dataDir, ownDir }: { dataDir: string; ownDir: string },
  told: Told,
): Promise<{ storage: PostgresStorage; warning: string | null }> {
  const { now } = told.clock
  const { place } = await inspectDatabase(url, now)
  const postgres = Postgres.open(url, { most: 1 })
  try {
    await shareSessionKey(ownDir, postgres, now())
    const isLeft = (await leftBehind(postgres, dataDir)) === 'all'
    const storage = await PostgresStorage.open({
      ...{ ...told, url, node: null, retentionDays: longestRetentionDays },
      copyDir: emptyCopyDir({ data: ownDir, databaseUrl: url }),
    })
    return { storage, warning: isLeft ? notMoved(dataDir, place) : null }
  } finally {
    await postgres.close()
  }
}

/**
 * A directory for this process alone, which is deleted when it ends. @returns its path, and a function that
 * deletes it
 */
function ownDirectory(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'cairn-command-'))
  const clear = () => rmSync(path, { recursive: true, force: true })
  const takeBack = beforeSignal(['SIGINT', 'SIGTERM', 'SIGHUP'], clear)
  return {
    path,
    remove() {
      clear()
      takeBack()
    },
  }
}

/**
 * The operator's door in this process: the same routes over the same storage as in a server, in one thread.
 * It holds a data directory's lock; a database it shares with the running nodes, without being one of them.
 *
 * @param time replaces parts of the machine's clock, for data that is to seem older
 * @throws DatabaseUnusable, MoveRefused
 */
export async function doorInProcess(
  { data, databaseUrl }: StoragePlace,
  time: Partial<Clock> = {},
): Promise<Door> {
  armFailpoints(process.env.CAIRN_FAILPOINTS)
  const clock = { ...systemClock(), ...time }
  const shared = newSharedMemory()
  const told = { shared, clock, bufferBounds, policy: defaultWriterPolicy }
  const own = databaseUrl === null ? null : ownDirectory()
  const place = { data: own?.path ?? data, databaseUrl }
  try {
    const { storage, warning } =
      databaseUrl === null
        ? { storage: openDirectory(data, told), warning: null }
        : await openDatabase(databaseUrl, { dataDir: data, ownDir: place.data }, told)
    return doorTo(place, { storage, warning }, told, () => own?.remove())
  } catch (error) {
    own?.remove()
    throw error
  }
}

/**
 * Does work on the storage of a database that nodes share.
 *
 * @throws DatabaseUnusable, MoveRefused
 */
export async function inDatabase<T>(
  databaseUrl: string,
  work: (storage: PostgresStorage) => Promise<T>,
): Promise<T> {
  const own = ownDirectory()
  try {
    const told = {
      shared: newSharedMemory(),
      clock: systemClock(),
      bufferBounds,
      policy: defaultWriterPolicy,
    }
    const dirs = { dataDir: own.path, ownDir: own.path }
    const { storage } = await openDatabase(databaseUrl, dirs, told)
    try {
      return await work(storage)
    } finally {
      await storage.close()
    }
  } finally {
    own.remove()
  }
}

function doorTo(
  place: StoragePlace,
  { storage, warning }: { storage: OpenStorage; warning: string | null },
  { shared, clock }: Told,
  onClosed: () => void,
): Door {
  const gauge = new BufferGauge(shared.buffer, bufferBounds)
  const client: StorageClient = new StorageClient(
    message => storage.inbox.take(message, answer => client.receive(answer)),
    gauge,
    'commit',
  )
  const connected = connectStorage(place, client, shared, false)
  let outside: Outside | null = null
  // Read only once it is needed, so that a wrong server setting does not stop other commands.
  const outsideAsSet = () => {
    const { config } = readConfig({ env: process.env }, settingsOfOutside)
    outside ??= outsideOf({ ...config, data: place.data })
    return outside
  }
  let fault: unknown
  const noteFault = ({ error }: RequestSummary) => {
    fault = error
  }
  const app = createApp({
    clock,
    stores: connected.stores,
    management: connected.management,
    limiter: new SharedMemoryLimiter(SharedMemoryLimiter.memory(mostOrganisations), slotOf),
    tokens: { organisationOf: () => Promise.reject(unauthorized('no_credential')) },
    // It makes links only; nobody signs in through it.
    dashboard: {
      publicUrl: null,
      serverKey: () => sessionKey(place.data),
      provider: () => null,
      onFailure: () => {},
    },
    alerts: { outside: outsideAsSet, onChange: () => {} },
    isOperatorsDoor: true,
    server: null,
    nodesBehind: connected.nodesBehind,
    retentionDays: longestRetentionDays,
    olderSnippetFile: async () => null,
    observers: [{ answered: noteFault, brokeOff: noteFault }],
  })
  return {
    warning,
    get fault() {
      return fault
    },
    async fetch(request) {
      // Nodes wait until the others have taken up their changes, but they do not wait for commands.
      if (storage instanceof PostgresStorage) await storage.watch()
      return app.fetch(request)
    },
    async close() {
      await connected.close()
      await storage.close()
      onClosed()
    },
  }
}
