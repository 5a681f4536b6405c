import { hostname } from 'node:os'
import { systemClock } from '../core/clock.ts'
import { longestRetentionDays } from '../core/retention.ts'
import { version } from '../core/version.ts'
import { acquireLock, isHeld } from '../server/lock.ts'
import { newSharedMemory } from '../storage/shared.ts'
import { Storage } from '../storage/storage.ts'
import { defaultWriterPolicy } from '../storage/writer.ts'

/**
 * Does work as a server would, alone with a data directory.
 *
 * @throws LockHeld where a server runs on it
 */
export async function underLock<T>(dataDir: string, work: () => T | Promise<T>): Promise<T> {
  const lock = acquireLock(dataDir, {
    pid: process.pid,
    host: hostname(),
    startedAt: new Date().toISOString(),
    port: 0,
    managementHost: '',
    managementPort: 0,
    version,
  })
  try {
    return await work()
  } finally {
    lock.release()
  }
}

/**
 * Does what a running server's storage thread would do, with a storage of this process's own. Where a
 * server runs, nothing: it does it itself.
 */
export async function asStorage(
  dataDir: string,
  work: (storage: Storage) => Promise<void>,
): Promise<void> {
  if (isHeld(dataDir)) return
  await underLock(dataDir, async () => {
    const storage = new Storage({
      dataDir,
      shared: newSharedMemory(),
      clock: systemClock(),
      bufferBounds: { events: 0, bytes: 0 },
      policy: defaultWriterPolicy,
      // Nothing is deleted in passing: this is not known to have the server's settings.
      retention: { days: longestRetentionDays },
    })
    try {
      await work(storage)
    } finally {
      await storage.close()
    }
  })
}
