import { createApp, type Outside, type RequestSummary } from '../app.ts'
import { readConfig } from '../config/read-config.ts'
import { unauthorized } from '../core/errors.ts'
import { flowWorkHere } from '../core/flow/work.ts'
import { maxRetentionDays } from '../core/organisation/catalogue.ts'
import type { Clock } from '../core/time/clock.ts'
import { armFailpoints } from '../failpoints.ts'
import { MemoryLimiter } from '../limits/memory.ts'
import { inspectDatabase } from '../storage/log/postgres/inspection.ts'
import { LiveState, slotOf } from '../storage/shared/live-state.ts'
import { prepareReplica } from '../storage/sqlite/replica/prepare-replica.ts'
import { Storage } from '../storage/sqlite/storage.ts'
import { StorageCalls } from '../storage/sqlite/writer/calls.ts'
import { defaultWriterPolicy } from '../storage/sqlite/writer/group-commit.ts'
import { connectStorage } from './connect-storage.ts'
import { catchUp, type OpenFollowing, openFollowing } from './following.ts'
import { longWorkBeside } from './long-work-thread.ts'
import { outsideOf, settingsOfOutside } from './outside.ts'
import type { StoragePlace } from './place.ts'
import { sessionKey } from './session-key.ts'
import { systemClock } from './system-clock.ts'

/** The operator's way in, with or without a running server. */
export interface Door {
  fetch(request: Request): Promise<Response>
  /** The fault behind the newest answer, if that was a fault and not a refusal. It is in no log. */
  readonly fault: unknown
  close(): Promise<void>
}

const bufferBounds = { events: 10_000, bytes: 256 * 1024 ** 2 }

/**
 * The operator's door in this process: the same routes over the same storage as in a server, whose lock the caller
 * holds. A directory that follows a log is brought up to date with it, or filled if it is empty.
 *
 * @param time replaces parts of the machine's clock, for data that is to seem older
 * @throws DatabaseUnusable, NotOfThisLog
 */
export async function doorInProcess(place: StoragePlace, time: Partial<Clock> = {}): Promise<Door> {
  armFailpoints(process.env.CAIRN_FAILPOINTS)
  const clock = { ...systemClock(), ...time }
  const live = new LiveState(bufferBounds)
  const { data: dataDir, databaseUrl } = place
  const opened = databaseUrl === null ? null : await follow(databaseUrl, dataDir, live, clock)
  const storage = new Storage({
    ...{ live, clock, dataDir, policy: defaultWriterPolicy, following: opened },
    // Nothing is deleted in passing, because this process may not have the server's settings.
    retention: { days: maxRetentionDays },
  })
  if (opened) await catchUp(storage, dataDir)
  const connected = connectStorage(dataDir, new StorageCalls(storage, 'commit'), false)
  let outside: Outside | null = null
  // Read only once it is needed, so that a wrong server setting does not stop other commands.
  const outsideAsSet = () => {
    const { config } = readConfig({ env: process.env }, settingsOfOutside)
    outside ??= outsideOf({ ...config, data: place.data })
    return outside
  }
  let problem: unknown
  const noteProblem = ({ error }: RequestSummary) => {
    problem = error
  }
  const app = createApp({
    clock,
    stores: connected.stores,
    management: connected.management,
    limiter: new MemoryLimiter(slotOf),
    flowWork: flowWorkHere,
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
    retentionDays: maxRetentionDays,
    olderSnippetFile: async () => null,
    observers: [{ responded: noteProblem, brokeOff: noteProblem }],
  })
  return {
    get fault() {
      return problem
    },
    async fetch(request) {
      // Nodes wait until the others have taken up their changes, but they do not wait for commands.
      if (opened) await storage.follow()
      return app.fetch(request)
    },
    async close() {
      connected.close()
      await storage.close()
      await opened?.log.close()
    },
  }
}

/** Opens the log, and makes the directory one that can follow it. */
async function follow(
  url: string,
  dataDir: string,
  { node }: LiveState,
  clock: Clock,
): Promise<OpenFollowing> {
  const { place } = await inspectDatabase(url, clock.now)
  // In a thread of its own, because a transaction that waits for the log holds the write lock.
  const work = longWorkBeside({ dataDir, isServed: false }, true)
  const opened = await openFollowing(url, { node, clock, port: null, work })
  try {
    await prepareReplica(dataDir, opened.log, place)
    return opened
  } catch (error) {
    await opened.log.close()
    throw error
  }
}
