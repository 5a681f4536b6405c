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
import { connectStorage } from './storage.ts'
import { systemClock } from './system-clock.ts'

/** A server's operator is let in through it, with or without a server. */
export interface Door {
  fetch(request: Request): Promise<Response>
  /** What went wrong in the newest answer, where that was a fault and no refusal: no log tells of it. */
  readonly fault: unknown
  /** What the operator should know of where this leads; null where all is as it should be. */
  readonly warning: string | null
  close(): Promise<void>
}

const bufferBounds = { events: 10_000, bytes: 256 * 1024 ** 2 }

/** What either storage is to a command. */
interface OpenStorage {
  readonly inbox: Inbox
  close(): Promise<void>
}

/** What it is told. */
type Told = Pick<StorageOptions, 'shared' | 'clock' | 'bufferBounds' | 'policy'>

function openDirectory(dataDir: string, told: Told): OpenStorage {
  // Nothing is deleted in passing: this is not known to have the server's settings.
  return new Storage({ ...told, dataDir, retention: { days: longestRetentionDays } })
}

/** The copy of what management keeps, and the key, go where nobody else looks. */
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

/** A directory of this process alone, which goes with it. @returns its path, and what deletes it */
function ownDirectory(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'cairn-command-'))
  const clear = () => rmSync(path, { recursive: true, force: true })
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const remove = () => {
    clear()
    for (const signal of signals) process.off(signal, end)
  }
  const end = (signal: NodeJS.Signals) => {
    remove()
    process.kill(process.pid, signal)
  }
  for (const signal of signals) process.on(signal, end)
  return { path, remove }
}

/**
 * The operator's door in this process: the same routes over the same storage as in a server, in one thread.
 * Of a data directory it has the lock; a database it shares with the nodes that run, without being one.
 *
 * @param time another than the machine's, for what is to seem older
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
 * Does something over a database that nodes share, by its storage itself.
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
  // Read once somebody needs it: a wrong setting of a server keeps no other command from its work.
  const outsideAsSet = () => {
    outside ??= outsideOf(readConfig({ env: process.env }, settingsOfOutside).config)
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
      // Nodes wait for each other's changes to be taken up, but for no command.
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
