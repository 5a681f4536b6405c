import type { Database } from 'bun:sqlite'
import { pragmaNumber } from '../database/database.ts'

export interface FreePagesPolicy {
  /** Free pages to keep for what arrives next: at least this many, and this share of the file. */
  least: number
  share: number
}

/** 64 MiB, or a tenth. */
const defaultFreePagesPolicy: FreePagesPolicy = { least: 16_384, share: 0.1 }

/** Pages that are moved at once: well under a millisecond if they are in memory. */
const pagesAtOnce = 8

/**
 * Gives pages that deletions have freed back to the disk: pages from the end of the file move into their
 * places, and the file shrinks at the next checkpoint. Some free pages stay; otherwise new data would only
 * have to lengthen the file again.
 *
 * It needs SQLite's incremental auto-vacuum, which a database has from its creation.
 */
export class FreePages {
  private readonly counts
  private readonly canShrink: boolean
  private readonly shrink

  constructor(
    database: Database,
    private readonly policy = defaultFreePagesPolicy,
  ) {
    this.counts = database.query<{ free: number; pages: number }, []>(
      `select freelist_count as free, page_count as pages
      from pragma_freelist_count, pragma_page_count`,
    )
    this.canShrink = pragmaNumber(database, 'auto_vacuum') === 2
    this.shrink = database.query(`pragma incremental_vacuum(${pagesAtOnce})`)
  }

  get isDue(): boolean {
    if (!this.canShrink) return false
    const { free, pages } = this.counts.get()!
    return free > this.policy.least && free > pages * this.policy.share
  }

  /** Within a transaction. @returns that no event is deleted */
  giveBack(mayGoOn: () => boolean): number {
    do this.shrink.all()
    while (this.isDue && mayGoOn())
    return 0
  }
}
