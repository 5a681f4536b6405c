import type { Queries } from '../database/connection.ts'

/** What is known of an organisation that has been locked. */
export interface LockedLedger {
  /** The last change that concerns the organisation. */
  change: number
  /** When its newest event was received, epoch milliseconds; 0 if it has none. */
  latestAt: number
}

/** How long a transaction that holds others up may wait for its node, which may have stalled, milliseconds. */
export const continuesWithinMs = 5_000

/** Keeps others from writing an organisation's events, or changing what they mean, until the transaction ends. */
export async function lockOrganisation(
  transaction: Queries,
  orgRow: number,
): Promise<LockedLedger> {
  const [ledger] = await Promise.all([
    transaction.get<LockedLedger>(
      'select change, latest_at as "latestAt" from ledgers where org_id = $1 for update',
      orgRow,
    ),
    transaction.run(`set local idle_in_transaction_session_timeout = ${continuesWithinMs}`),
  ])
  return ledger ?? { change: 0, latestAt: 0 }
}
