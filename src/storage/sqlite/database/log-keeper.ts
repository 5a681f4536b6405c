import type { Database } from 'bun:sqlite'
import { failpoint } from '../../../failpoints.ts'
import { pragmaNumber } from './database.ts'

/** With so many pages the log is written back. If it exceeds that by as much again, something is in the way. */
const checkpointPages = 1_000

/**
 * With so many pages, 64 MiB, it is written back while nothing is written: otherwise it may never be written back
 * to its end, after which SQLite begins anew at its start.
 */
const longLogPages = 2 ** 14

/** If nobody else has written the log back when it is this long, whoever should is gone: 1 GiB. */
const maxLogPages = 2 ** 18

/**
 * How long a checkpoint that empties the log waits for readers, milliseconds. A long reader, such as Litestream, keeps
 * the log from being emptied: no reason to wait. What is left, the next start takes up.
 */
const readerPatienceMs = 250

/** How many pages the log has, and how many of them are written back. */
export interface Checkpoint {
  log: number
  checkpointed: number
}

/** Writes as much of the log back as readers allow. */
export const writeBack = (database: Database): Checkpoint => checkpoint(database, 'passive')

const checkpoint = (database: Database, mode: 'noop' | 'passive'): Checkpoint =>
  database.query<Checkpoint, []>(`pragma wal_checkpoint(${mode})`).get()!

/**
 * Writes back what an earlier process has left in the log. If a sync has failed, the log may read well and still have
 * a gap on the disk, behind which nothing would survive a power cut.
 */
export function beginLogAnew(database: Database, isKeptByOther: boolean): void {
  if (isKeptByOther) writeBack(database)
  else empty(database)
}

/** Writes all of the log back, and empties it unless somebody reads. */
function empty(database: Database): void {
  const patienceMs = pragmaNumber(database, 'busy_timeout')
  database.run(`pragma busy_timeout = ${readerPatienceMs}`)
  database.run('pragma wal_checkpoint(truncate)')
  database.run(`pragma busy_timeout = ${patienceMs}`)
}

interface LogKeeperOptions {
  /** Another program writes the log back, and this one only if that seems dead. */
  isKeptByOther: boolean
  /** Writes it back in another thread, because syncs take long; null if SQLite does it after commits. */
  beside: (() => Promise<Checkpoint>) | null
  /** Does work during which nothing is written. */
  withoutWrites(work: () => Promise<unknown>): Promise<unknown>
  /** Is called once when the log cannot be written back. */
  onError(error: unknown, what: string): void
}

/** Makes sure that the write-ahead log is written back into the database, by this program or by another. */
export class LogKeeper {
  private isStuck = false
  private running: Promise<unknown> | null = null
  /** How many pages the log may have before it is written back. */
  private readonly pages: number

  constructor(
    private readonly database: Database,
    private readonly options: LogKeeperOptions,
  ) {
    this.pages = options.isKeptByOther ? maxLogPages : checkpointPages
    const byCommits = options.beside === null ? this.pages : 0
    database.run(`pragma wal_autocheckpoint = ${byCommits}`)
  }

  /** Writes the log back if it has become long. To be called every so often; costs next to nothing if it is short. */
  async look(): Promise<void> {
    this.running ??= this.writeBackIfLong().finally(() => {
      this.running = null
    })
    await this.running
  }

  /**
   * A log that cannot be written back is reported. Nothing is lost meanwhile, but it grows until the disk is full.
   */
  private async writeBackIfLong(): Promise<void> {
    const { beside, withoutWrites, onError } = this.options
    const { log } = checkpoint(this.database, 'noop')
    if (log < (beside ? this.pages : 2 * this.pages)) {
      this.isStuck = false
      return
    }
    try {
      let done = await (beside?.() ?? writeBack(this.database))
      const isComplete = done.checkpointed === done.log
      if (beside && isComplete && done.log >= Math.max(longLogPages, this.pages)) {
        await withoutWrites(async () => {
          done = await beside()
        })
      }
      // One that stops at a reader succeeds without a sync of the database, and the log goes on growing: only a
      // complete one shows that the log can be written back.
      if (done.checkpointed === done.log) this.isStuck = false
    } catch (error) {
      if (!this.isStuck) onError(error, 'the write-ahead log cannot be checkpointed, so it grows')
      this.isStuck = true
    }
  }

  /** Resolves once nothing is being written back. */
  async finish(): Promise<void> {
    await this.running
  }

  /** Empties the log at a stop, unless another program keeps it. */
  stop(): void {
    if (this.options.isKeptByOther) return
    this.database.run('pragma wal_checkpoint(passive)')
    failpoint('during_checkpoint')
    empty(this.database)
  }
}
