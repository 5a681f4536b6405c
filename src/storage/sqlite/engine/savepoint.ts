import type { Database } from 'bun:sqlite'
import type { TransactionParticipant } from './participant.ts'

/**
 * The disk or a lock is in the way, and the same transaction may succeed later. A damaged database counts
 * too ("disk image is malformed"): until somebody restores it, commands should be refused and not buried.
 */
const passingProblem =
  /SQLITE_(BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|NOMEM|PROTOCOL)|disk|locked/i

export const isPassing = (error: unknown) =>
  passingProblem.test(`${(error as { code?: string }).code ?? ''} ${String(error)}`)

/** Somebody else is writing at the moment. */
export const isBusy = (error: unknown) => (error as { code?: string }).code === 'SQLITE_BUSY'

/**
 * Does a piece of a transaction, of which either all or nothing is kept.
 *
 * @param participants null if nothing in memory has to agree with what the piece writes
 * @returns the error of the database; null if the piece is kept
 * @throws if the fault may pass: then the whole transaction has to be retried
 */
export function inSavepoint(
  database: Database,
  participants: TransactionParticipant | null,
  work: () => unknown,
): Error | null {
  const mark = participants?.savepoint()
  database.query('savepoint apart').run()
  let problem: Error | null = null
  try {
    work()
  } catch (error) {
    if (isPassing(error)) throw error
    problem = error as Error
    participants?.rollbackTo(mark)
    database.query('rollback to apart').run()
  }
  database.query('release apart').run()
  return problem
}
