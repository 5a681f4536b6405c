import type { Database } from 'bun:sqlite'
import { Lag, ProgressVersions } from '../../shared/live-state.ts'
import { StoredCatalogue } from '../catalogue/catalogue.ts'
import { RunBlocks } from '../engine/run-blocks/run-blocks.ts'
import { Follower } from './follower.ts'

/** The row of the ledger up to which everything is projected, and the ledger's last row. */
export const projectedOf = (database: Database): { projected: number; newest: number } =>
  database
    .query<{ projected: number; newest: number }, []>(
      `select (select value from main.server_state where name = 'projected') as projected,
        (select coalesce(max(seq), 0) from main.event_batches) as newest`,
    )
    .get()!

/** Projects the part of the ledger that is not projected yet, in a database that no server uses. */
export function projectRest(database: Database, now: () => number): void {
  const { projected, newest } = projectedOf(database)
  if (projected >= newest) return
  const blocks = new RunBlocks(database)
  const live = { now, lag: new Lag(), progress: new ProgressVersions() }
  const ids = { committedSeq: newest }
  const follower = new Follower(database, new StoredCatalogue(database), blocks, ids, live)
  const inTransaction = (work: () => () => void) => {
    const done = database.transaction(work).immediate()
    follower.commit()
    done()
  }
  while (follower.isBehind) {
    try {
      inTransaction(() => follower.step())
    } catch {
      follower.rollback()
      inTransaction(() => follower.step(true))
    }
  }
}
