import type { Database } from 'bun:sqlite'
import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { NewManagementToken } from '../../modules/access/port.ts'
import type { NewLink, NewSession, SignedOut } from '../../modules/dashboard/port.ts'
import type { OperationAudit } from '../../modules/operations/port.ts'
import type { NewOrganisation, OrganisationChange } from '../../modules/organisations/port.ts'
import type { ErasureAudit, NamedPerson } from '../../modules/people/port.ts'
import { allowAgain } from '../erasure/erasures.ts'
import type { Withholding } from '../erasure/withheld.ts'
import { changeFlows, type PreparedChanges } from '../flows/store.ts'
import type { InRows } from '../in-rows.ts'
import { dropDeadLetters, retryDeadLetters } from '../ledger/dead-letters.ts'
import * as dashboard from '../organisations/dashboard-sessions.ts'
import { createToken, noteTokenUse, revokeToken } from '../organisations/management-tokens.ts'
import { addOrganisation, changeOrganisation } from '../organisations/organisations.ts'

/**
 * What management writes, by name. Each runs in the writer's thread between two groups of commands, in
 * a transaction of its own. What one answers with, if that is a function, is called once it is committed.
 *
 * @param executor of commands, with which dead letters are tried again
 * @param now epoch milliseconds, read within the transaction
 * @param writeSeen writes what is only noted in memory of what requests have shown
 */
export const operationsOver = (
  database: Database,
  dataDir: string,
  executor: Withholding,
  now: () => number,
  writeSeen: () => () => void,
) => ({
  changeFlows: (orgRow: number, changes: PreparedChanges) =>
    changeFlows(database, orgRow, changes, now),
  createToken: (orgRow: number, token: NewManagementToken, audit: AuditEntry) =>
    createToken(database, orgRow, token, audit),
  revokeToken: (orgRow: number, id: string, audit: AuditEntry) =>
    revokeToken(database, orgRow, id, audit),
  retryDeadLetters: (orgRow: number, ids: readonly number[], audit: OperationAudit) =>
    retryDeadLetters(database, executor, orgRow, ids, audit),
  dropDeadLetters: (orgRow: number, ids: readonly number[], audit: OperationAudit) =>
    dropDeadLetters(database, orgRow, ids, audit),
  allowPerson: (person: InRows<NamedPerson>, audit: ErasureAudit) =>
    allowAgain(database, dataDir, person, now(), audit),
  noteTokenUse: (id: string, at: number) => noteTokenUse(database, id, at),
  createLink: (orgRow: number, link: NewLink, audit: AuditEntry) =>
    dashboard.createLink(database, orgRow, link, audit),
  redeemLink: (sha256: string, session: NewSession, audit: AuditEntry) =>
    dashboard.redeemLink(database, sha256, session, audit),
  beginSession: (orgRow: number, session: NewSession, audit: AuditEntry) =>
    dashboard.beginSession(database, orgRow, session, audit),
  endSession: (orgRow: number, sha256: string, isEverywhere: boolean) =>
    dashboard.endSession(database, orgRow, sha256, isEverywhere),
  endSessionsOf: (who: SignedOut) => dashboard.endSessionsOf(database, who),
  noteSeen: (sha256: string, at: number) => dashboard.noteSeen(database, sha256, at),
  addOrganisation: (organisation: NewOrganisation, audit: AuditEntry) =>
    addOrganisation(database, organisation, audit),
  changeOrganisation: (orgRow: number, change: OrganisationChange) =>
    changeOrganisation(database, orgRow, change),
  writeSeen,
})

export type StorageOperations = ReturnType<typeof operationsOver>

/** A call of one of them, as it travels between threads. */
export interface Operation {
  type: 'operation'
  name: keyof StorageOperations
  input: readonly unknown[]
}

/** Calls the operation that is named. */
export function operate(operations: StorageOperations, { name, input }: Operation): unknown {
  const run = operations[name] as (...input: readonly unknown[]) => unknown
  // Null, unlike undefined, crosses threads as JSON.
  return run(...input) ?? null
}
