import { version } from '../../../core/version.ts'
import type { Log } from '../../log/log.ts'
import { partsOf, type SnapshotFile } from './snapshot-file.ts'

/** How many batches the log may have after the newest snapshot, and how old that may be if there are any; milliseconds. */
const mostBatchesAfter = 10_000
const oldestMs = 24 * 3_600_000

/** How many are kept, so that one that is damaged does no harm. */
const kept = 2

interface SnapshotParts {
  log: Log
  /** The position of this machine's database. */
  seq: () => number
  now: () => number
  /** Writes a copy of the database of this machine. */
  write: () => Promise<SnapshotFile>
}

/** Copies of this machine's database in the log, with which others begin. */
export class Snapshots {
  constructor(private readonly parts: SnapshotParts) {}

  /** Makes one if it is due: to be called every so often by the machine that has this job. */
  async makeIfDue(): Promise<void> {
    const { log, seq, now } = this.parts
    const [newest] = await log.snapshots()
    const after = seq() - (newest?.seq ?? 0)
    if (after === 0) return
    // The more there is, the longer a snapshot takes.
    const isMuch = after > Math.max(mostBatchesAfter, seq() / 4)
    const isDue = isMuch || now() - (newest?.madeAt ?? 0) > oldestMs
    if (isDue) await this.make()
  }

  /** @param isOnly whether all others are deleted */
  async make(isOnly = false): Promise<void> {
    const { log, now, write } = this.parts
    await storeSnapshot(log, await write(), now())
    const all = await log.snapshots()
    if (isOnly) return log.drop(all.slice(1))
    // Those of each schema, for as long as machines with different ones may begin.
    const bySchema = Map.groupBy(all, snapshot => snapshot.schema).values()
    await log.drop([...bySchema].flatMap(ofSchema => ofSchema.slice(kept)))
  }
}

/** Stores a copy of a database in the log. */
export async function storeSnapshot(
  log: Log,
  written: SnapshotFile,
  madeAt: number,
): Promise<void> {
  const { seq, mark, schema } = written
  await log.store({ seq, mark, schema, release: version, madeAt }, partsOf(written))
}
