import { closeSync, fdatasync, openSync } from 'node:fs'
import { failing } from '../../../failpoints.ts'
import { databaseFile } from './database.ts'

interface Waiting {
  resolve(): void
  reject(error: Error): void
}

/**
 * Makes commits survive a power cut without holding up the event loop: SQLite writes them to its write-ahead log
 * (`synchronous=normal`), and the log is synced from Bun's pool of threads. A checkpoint syncs the log by itself
 * before it writes it back.
 */
export class LogSync {
  private readonly handle: number
  private readonly sync: (end: (error: Error | null) => void) => void
  private waiting: Waiting[] = []
  /** When the sync that runs was begun, by the monotonic clock of the process; null if none runs. */
  private runningSince: number | null = null

  /** To be made while the database is open: then it has a log. */
  constructor(dataDir: string) {
    this.handle = openSync(`${databaseFile(dataDir)}-wal`, 'r')
    this.sync = failing('before_sync', end => fdatasync(this.handle, end))
  }

  /**
   * Resolves once everything that is committed by now is on the disk. Those who ask while a sync runs share the
   * next one.
   *
   * @throws the file system's error. The disk may have dropped what it could not write, so nothing that is
   *   committed since is safe either, and no later sync makes it so
   */
  done(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.waiting.push({ resolve, reject })
    if (this.runningSince === null) this.begin()
    return promise
  }

  /** How long the sync that runs has taken so far, milliseconds; 0 if none runs. */
  get runningMs(): number {
    return this.runningSince === null ? 0 : performance.now() - this.runningSince
  }

  close(): void {
    closeSync(this.handle)
  }

  private begin(): void {
    const { waiting } = this
    this.waiting = []
    this.runningSince = performance.now()
    const end = (error: Error | null) => {
      this.runningSince = null
      if (this.waiting.length > 0) this.begin()
      for (const { resolve, reject } of waiting) error ? reject(error) : resolve()
    }
    try {
      this.sync(end)
    } catch (error) {
      end(error as Error)
    }
  }
}
