import { version } from '../../../core/version.ts'
import type { Log } from '../../log/log.ts'
import { partsOf, writeSnapshot } from './snapshot-file.ts'

/** Stores a snapshot of a directory that was just moved into a log. */
export async function storeFirstSnapshot(dataDir: string, log: Log, now: number): Promise<void> {
  const written = await writeSnapshot(dataDir)
  const { seq, mark, schema } = written
  await log.store({ seq, mark, schema, release: version, madeAt: now }, partsOf(written))
}
