import type { Queries } from '../database/connection.ts'

/**
 * Has nobody else write an organisation's events, or change what they mean, until the transaction ends.
 *
 * @returns the last change that concerns the organisation
 */
export async function lockOrganisation(transaction: Queries, orgRow: number): Promise<number> {
  const ledger = await transaction.get<{ change: number }>(
    'select change from ledgers where org_id = $1 for update',
    orgRow,
  )
  return ledger?.change ?? 0
}
