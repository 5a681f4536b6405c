import { hostname } from 'node:os'
import { systemClock } from '../core/clock.ts'
import { version } from '../core/version.ts'
import { acquireLock, isHeld } from '../server/lock.ts'
import { newSharedMemory } from '../storage/shared.ts'
import { Storage } from '../storage/storage.ts'
import { defaultWriterPolicy } from '../storage/writer.ts'

/**
 * Does what a running server's storage thread would do, where no server runs: with a storage of this
 * process's own, under the server's lock. Where one runs, nothing: it does it itself.
 */
export async function asStorage(
  dataDir: string,
  work: (storage: Storage) => Promise<void>,
): Promise<void> {
  if (isHeld(dataDir)) return
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
    const storage = new Storage({
      dataDir,
      shared: newSharedMemory(),
      clock: systemClock(),
      bufferBounds: { events: 0, bytes: 0 },
      policy: defaultWriterPolicy,
      retention: { days: Number.MAX_SAFE_INTEGER },
    })
    try {
      await work(storage)
    } finally {
      await storage.close()
    }
  } finally {
    lock.release()
  }
}
