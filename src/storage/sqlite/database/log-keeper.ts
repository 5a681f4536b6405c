import type { Database } from 'bun:sqlite'
import { failpoint } from '../../../failpoints.ts'

/**
 * SQLite tries to write the log back at the first number of pages. If the log exceeds that by more than the
 * second number, something is in the way.
 */
const usualLogPages = 1_000
const overdueLogPages = 1_000

/** If nobody else has written the log back when it is this long, whoever should is gone: 1 GiB. */
const mostLogPages = 2 ** 18

/** How long the last checkpoint waits for readers, milliseconds. What it leaves, the next start takes up. */
const lastCheckpointMs = 250

/** Makes sure that the write-ahead log is written back into the database, by SQLite or by another program. */
export class LogKeeper {
  private isStuck = false
  /** How many pages the log may have before it is written back. */
  private readonly pages: number

  /**
   * @param isKeptByOther another program writes the log back, and this one only if that seems dead
   * @param onFault is told once when the log cannot be written back
   */
  constructor(
    private readonly database: Database,
    private readonly isKeptByOther: boolean,
    private readonly onFault: (error: unknown, what: string) => void,
  ) {
    this.pages = isKeptByOther ? mostLogPages : usualLogPages
    database.run(`pragma wal_autocheckpoint = ${this.pages}`)
  }

  /**
   * Reports when the log cannot be written back: SQLite tries after commits, but does not report a failure.
   * Nothing is lost meanwhile, but the log grows until the disk is full. To be called every so often; costs
   * next to nothing while all is well.
   */
  look(): void {
    if (this.checkpoint('noop').log < this.pages + overdueLogPages) {
      this.isStuck = false
      return
    }
    try {
      // A checkpoint that stops at a reader succeeds without a sync of the database, and the log goes on
      // growing: only a complete one shows that the log can be written back.
      const { log, checkpointed } = this.checkpoint('passive')
      if (checkpointed === log) this.isStuck = false
    } catch (error) {
      if (!this.isStuck) this.onFault(error, 'the log cannot be written back: it grows')
      this.isStuck = true
    }
  }

  /** Empties the log at a stop, unless another program keeps it. */
  stop(): void {
    if (this.isKeptByOther) return
    // A long reader, such as Litestream, keeps the log from being truncated: no reason to wait.
    this.database.run(`pragma busy_timeout = ${lastCheckpointMs}`)
    this.database.run('pragma wal_checkpoint(passive)')
    failpoint('during_checkpoint')
    this.database.run('pragma wal_checkpoint(truncate)')
  }

  private checkpoint(mode: 'noop' | 'passive'): { log: number; checkpointed: number } {
    return this.database
      .query<{ log: number; checkpointed: number }, []>(`pragma wal_checkpoint(${mode})`)
      .get()!
  }
}
