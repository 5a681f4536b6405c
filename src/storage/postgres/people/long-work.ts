import type { Database } from 'bun:sqlite'
import type { AuditEntry } from '../../../core/organisation/audit.ts'
import { rewritingHeld } from '../../sqlite/database/rewriting.ts'
import { writeAudit } from '../../sqlite/organisations/audit-log.ts'
import type { CatalogueCopy } from '../copy/copy.ts'
import type { Postgres } from '../database/connection.ts'
import { Transactions } from '../writer/transactions.ts'
import { type ErasureChanges, erasureChanges } from './erasure-changes.ts'

/** What erasures and rebuilds need, which take long and run beside a node's other work. */
export interface LongWorkParts {
  /**
   * A pool of its own, with at least two connections: whoever waits in it for an organisation's lock must not take
   * a connection from those who have that lock.
   */
  postgres: Postgres
  /** Over that pool. */
  transactions: Transactions
  /** The node's copy of what management keeps; only read. */
  reading: Database
  /** Brings the copy up to this change at least. */
  upToDate(change: number): Promise<unknown>
  /** Each is a change to what management keeps: see `CatalogueCopy.alter`. */
  changes: { [Name in keyof ErasureChanges]: Asynchronous<ErasureChanges[Name]> } & {
    audit(orgRow: number, entry: AuditEntry): Promise<unknown>
  }
}

type Asynchronous<Method> = Method extends (...args: infer Args) => infer Result
  ? (...args: Args) => Promise<Result>
  : never

/**
 * The same as a node has it: changes are made on its copy, and the whole node knows about them before they resolve.
 *
 * @param noticed brings everything in memory up to date with the copy
 */
export function longWorkOver({
  postgres,
  following,
  reading,
  copy,
  now,
  noticed,
  upToDate,
}: Pick<LongWorkParts, 'postgres' | 'reading' | 'upToDate'> & {
  following: Postgres
  copy: CatalogueCopy
  now: () => number
  noticed(): unknown
}): LongWorkParts {
  const alter = async <T>(work: () => T): Promise<T> => {
    const result = await copy.alter(work)
    noticed()
    return result
  }
  const own = erasureChanges(copy.database, now)
  return {
    postgres,
    transactions: new Transactions(postgres, following),
    reading,
    upToDate,
    changes: {
      beginErasure: (...args) => alter(() => own.beginErasure(...args)),
      reapplyErasures: (...args) => alter(() => own.reapplyErasures(...args)),
      endErasure: (...args) => alter(() => own.endErasure(...args)),
      allowPerson: (...args) => alter(() => own.allowPerson(...args)),
      audit: (orgRow, entry) => alter(() => writeAudit(copy.database, orgRow, [entry])),
    },
  }
}

/** Keeps the lock, or throws if it was lost. */
export type StillHeld = () => Promise<unknown>

/**
 * Runs work that gives people or their runs other rows than the ledger or the projections say they have, while no
 * other node does such work: see `whileRewriting` of SQLite.
 *
 * The lock belongs to a transaction, which writes nothing, does not hold up vacuum, and works through PgBouncer.
 *
 * @throws AppError `rewriting_under_way`
 */
export const whileRewriting = <T>(
  postgres: Postgres,
  work: (stillHeld: StillHeld) => Promise<T>,
): Promise<T> =>
  postgres.begin(async holder => {
    // A number that no other installation in the same database has.
    const lock = await holder.get<{ isHeld: boolean }>(
      `select pg_try_advisory_xact_lock('erasures'::regclass::oid::bigint) as "isHeld"`,
    )
    if (!lock?.isHeld) throw rewritingHeld()
    return work(() => holder.get('select 1'))
  })
