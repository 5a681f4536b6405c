import { type Log, NotInLog } from '../../log/log.ts'
import { hasDatabase, openForReading, openForWriting } from '../database/database.ts'
import { schemaKnown, schemaOf } from '../database/migrate.ts'
import { prepareDatabase } from '../database/prepare.ts'
import { beginning, leaving, movingInto, positionIn, renameLog } from './replica.ts'
import { discardDatabase, placeSnapshot, SnapshotDamaged } from './snapshots.ts'

/** A directory holds data that is not of this log; the message says what to do. */
export class NotOfThisLog extends Error {
  override readonly name = 'NotOfThisLog'
}

export type OnFilled = (share: number) => void

/**
 * Makes a directory's database one that can follow the log: creates or fills it if there is none, and fills it anew
 * if the log cannot go on from it.
 *
 * @param place where the log is, for messages
 * @returns why it was filled anew; null if it was not
 * @throws NotOfThisLog, SnapshotDamaged, and what the log throws
 */
export async function prepareReplica(
  dataDir: string,
  log: Log,
  place: string,
  tell: OnFilled = () => {},
): Promise<string | null> {
  const found = hasDatabase(dataDir) ? stateOf(dataDir) : null
  if (found === null) {
    await fill(dataDir, log, tell)
    return null
  }
  const { position, isUsed } = found
  if (position === null) {
    if (!isUsed) {
      discardDatabase(dataDir)
      await fill(dataDir, log, tell)
      return null
    }
    throw new NotOfThisLog(
      `${dataDir} holds the data of a single server, which is not in the database at ${place}: run "cairn move" to move it there if the database is empty, or choose an empty directory with --data`,
    )
  }
  const notMoved = () =>
    new NotOfThisLog(
      `${dataDir} was only partly moved into the database at ${place}: run "cairn move" again`,
    )
  if (position.log === movingInto(log.id)) throw notMoved()
  if (position.log === leaving(log.id)) {
    // It was interrupted before the end of the log, or no caller would get here.
    using database = openForWriting(dataDir)
    renameLog(database, log.id)
  } else if (position.log !== log.id) {
    const isEmpty = (await log.newest()).seq === 0
    throw new NotOfThisLog(
      isEmpty
        ? `${dataDir} follows another database than the one at ${place}, which is empty: name that one; if it is lost, run "cairn move --database-lost" on the directory with the most recent data (this one has the log up to ${position.seq})`
        : `${dataDir} follows another database than the one at ${place}: name that one, or choose an empty directory with --data`,
    )
  }
  try {
    await log.check(position)
    return null
  } catch (error) {
    if (!(error instanceof NotInLog)) throw error
    // An empty log has nothing to fill it with.
    if ((await log.newest()).seq === 0) throw notMoved()
    await fill(dataDir, log, tell)
    return error.message
  }
}

function stateOf(dataDir: string) {
  const database = openForReading(dataDir)
  try {
    if (schemaOf(database) === 0) return null
    const count = database
      .query<{ rows: number }, []>('select count(*) as rows from organisations')
      .get()!
    return { position: positionIn(database), isUsed: count.rows > 0 }
  } finally {
    database.close()
  }
}

/** Begins with the newest snapshot that this release can read, or with nothing if there is none. */
async function fill(dataDir: string, log: Log, tell: OnFilled): Promise<void> {
  const all = await log.snapshots()
  const usable = all.filter(({ schema }) => schema <= schemaKnown)
  if (all.length > 0 && usable.length === 0) {
    throw new NotOfThisLog(
      'every snapshot in the database was made by a newer release: run that release on this machine',
    )
  }
  for (const [i, snapshot] of usable.entries()) {
    try {
      await placeSnapshot(dataDir, snapshot, log.parts(snapshot), tell)
      return
    } catch (error) {
      if (!(error instanceof SnapshotDamaged) || i === usable.length - 1) throw error
    }
  }
  await log.check(beginning)
  discardDatabase(dataDir)
  prepareDatabase(dataDir).close()
}
