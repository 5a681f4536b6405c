import { createApp, type Outside, type RequestSummary } from '../app.ts'
import { readConfig } from '../config.ts'
import { unauthorized } from '../core/errors.ts'
import { longestRetentionDays } from '../core/organisation/catalogue.ts'
import type { Clock } from '../core/time/clock.ts'
import { armFailpoints } from '../failpoints.ts'
import { SharedMemoryLimiter } from '../limits/shared-memory.ts'
import {
  BufferGauge,
  LagBoard,
  mostOrganisations,
  newSharedMemory,
  slotOf,
} from '../storage/shared/boards.ts'
import { connectStores } from '../storage/sqlite/connect.ts'
import { connectManagement } from '../storage/sqlite/connect-management.ts'
import { openForReading } from '../storage/sqlite/database/database.ts'
import { Storage } from '../storage/sqlite/storage.ts'
import { StorageClient } from '../storage/sqlite/writer/client.ts'
import { defaultWriterPolicy } from '../storage/sqlite/writer/writer.ts'
import { longWorkBeside } from './long-work-thread.ts'
import { outsideOf, settingsOfOutside } from './outside.ts'
import { sessionKey } from './session-key.ts'
import { systemClock } from './system-clock.ts'

/** A server's operator is let in through it, with or without a server. */
export interface Door {
  fetch(request: Request): Promise<Response>
  /** What went wrong in the newest answer, where that was a fault and no refusal: no log tells of it. */
  readonly fault: unknown
  close(): Promise<void>
}

const bufferBounds = { events: 10_000, bytes: 256 * 1024 ** 2 }

/**
 * The operator's door in this process, over a data directory whose lock it holds: the same routes over
 * the same storage as in a server, in one thread.
 *
 * @param time another than the machine's, for what is to seem older
 */
export function doorInProcess(dataDir: string, time: Partial<Clock> = {}): Door {
  armFailpoints(process.env.CAIRN_FAILPOINTS)
  const clock = { ...systemClock(), ...time }
  const shared = newSharedMemory()
  const storage = new Storage({
    dataDir,
    shared,
    clock,
    bufferBounds,
    policy: defaultWriterPolicy,
    // Nothing is deleted in passing: this is not known to have the server's settings.
    retention: { days: longestRetentionDays },
  })
  const gauge = new BufferGauge(shared.buffer, bufferBounds)
  const client: StorageClient = new StorageClient(
    message => storage.handle(message, answer => client.receive(answer)),
    gauge,
    'commit',
  )
  const reading = openForReading(dataDir)
  const snapshots = openForReading(dataDir)
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
    stores: connectStores(reading, snapshots, client, shared),
    management: connectManagement(
      reading,
      client,
      longWorkBeside({ dataDir, isServed: false }),
      new LagBoard(shared.lag),
    ),
    limiter: new SharedMemoryLimiter(SharedMemoryLimiter.memory(mostOrganisations), slotOf),
    tokens: { organisationOf: () => Promise.reject(unauthorized('no_credential')) },
    // It makes links only; nobody signs in through it.
    dashboard: {
      publicUrl: null,
      serverKey: () => sessionKey(dataDir),
      provider: () => null,
      onFailure: () => {},
    },
    alerts: { outside: outsideAsSet, onChange: () => {} },
    isOperatorsDoor: true,
    server: null,
    retentionDays: longestRetentionDays,
    olderSnippetFile: async () => null,
    observers: [{ answered: noteFault, brokeOff: noteFault }],
  })
  return {
    get fault() {
      return fault
    },
    fetch: async request => app.fetch(request),
    async close() {
      reading.close()
      snapshots.close()
      await storage.close()
    },
  }
}
