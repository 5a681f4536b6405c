import type { Database } from 'bun:sqlite'
import type { TransactionParticipant } from './participant.ts'

/**
 * The disk or a lock is in the way: the same transaction may pass later. A damaged database counts
 * too ("disk image is malformed"): refusing is right until somebody restores it, burying is not.
 */
const passingFault = /SQLITE_(BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|NOMEM|PROTOCOL)|disk|locked/i

export const isPassing = (error: unknown) =>
  passingFault.test(`${(error as { code?: string }).code ?? ''} ${String(error)}`)

/**
 * Does a piece of a transaction: either all of it is kept, or nothing of it is.
 *
 * @returns what the database has against it; null where it is kept
 * @throws where the fault may pass: then the whole transaction is to be tried again
 */
export function inSavepoint(
  database: Database,
  participants: TransactionParticipant,
  work: () => unknown,
): Error | null {
  const mark = participants.savepoint()
  database.query('savepoint apart').run()
  let fault: Error | null = null
  try {
    work()
  } catch (error) {
    if (isPassing(error)) throw error
    fault = error as Error
    participants.rollbackTo(mark)
    database.query('rollback to apart').run()
  }
  database.query('release apart').run()
  return fault
}
