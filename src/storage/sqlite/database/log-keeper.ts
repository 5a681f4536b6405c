import type { Database } from 'bun:sqlite'
import { failpoint } from '../../../failpoints.ts'

/** SQLite tries to write a log of so many pages back; one with more than so many more has something in its way. */
const usualLogPages = 1_000
const overdueLogPages = 1_000

/** A log that nobody else has written back by then has lost its keeper: 1 GiB. */
const mostLogPages = 2 ** 18

/** How long the last checkpoint waits for readers, milliseconds: what it leaves, the next start has. */
const lastCheckpointMs = 250

/** Sees that the write-ahead log is written back into the database, by SQLite or by another program. */
export class LogKeeper {
  private isStuck = false
  /** How long the log becomes before it is written back. */
  private readonly pages: number

  /**
   * @param isKeptByOther another program writes it back, and this one only where that seems dead
   * @param onFault is told once when it cannot be written back
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
   * Tells where the log cannot be written back: SQLite tries after commits, and keeps a failure to itself.
   * Nothing is lost meanwhile, but the log grows until the disk is full. To be called every so often;
   * costs next to nothing while all is well.
   */
  look(): void {
    if (this.checkpoint('noop').log < this.pages + overdueLogPages) {
      this.isStuck = false
      return
    }
    try {
      // Up to where a reader still is it passes without a sync of the database, and the log goes on
      // growing: only a whole one shows that it can be written back.
      const { log, checkpointed } = this.checkpoint('passive')
      if (checkpointed === log) this.isStuck = false
    } catch (error) {
      if (!this.isStuck) this.onFault(error, 'the log cannot be written back: it grows')
      this.isStuck = true
    }
  }

  /** At a stop: empties the log, unless another program keeps it. */
  stop(): void {
    if (this.isKeptByOther) return
    // Who reads for long, as Litestream does, keeps it from being cut back: no reason to wait.
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
