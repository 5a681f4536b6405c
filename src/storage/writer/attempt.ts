import type { Database } from 'bun:sqlite'
import type { Executor } from './commands.ts'

/**
 * The disk or a lock is in the way: the same transaction may pass later. A damaged database counts
 * too ("disk image is malformed"): refusing is right until somebody restores it, burying is not.
 */
const passingFault = /SQLITE_(BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|NOMEM|PROTOCOL)|disk|locked/i

export const isPassing = (error: unknown) =>
  passingFault.test(`${(error as { code?: string }).code ?? ''} ${String(error)}`)

/**
 * Executes commands within a savepoint of a transaction, in which all before them is settled: either
 * they are kept, or nothing of them is.
 *
 * @returns what the database has against them; null where they are kept
 * @throws where the fault may pass: then the whole transaction is to be tried again
 */
export function attempt(
  database: Database,
  executor: Executor,
  commands: () => void,
): Error | null {
  const { mark } = executor
  database.run('savepoint attempt')
  let fault: Error | null = null
  try {
    commands()
    executor.settle()
  } catch (error) {
    if (isPassing(error)) throw error
    fault = error as Error
    executor.rolledBackTo(mark)
    database.run('rollback to attempt')
  }
  database.run('release attempt')
  return fault
}
