import type { Database } from 'bun:sqlite'
import type { AuditEntry } from '../../../core/organisation/audit.ts'
import type { OperationAudit } from '../../../modules/operations/port.ts'
import type { ErasureAudit, NamedPerson } from '../../../modules/people/port.ts'
import type { InRows } from '../../shared/in-rows.ts'
import * as alerts from '../alerts/alert-store.ts'
import { inTransaction } from '../catalogue/change.ts'
import { allowAgain } from '../erasure/erasures.ts'
import type { Withholding } from '../erasure/withheld.ts'
import { changeFlows, type PreparedChanges } from '../flows/store.ts'
import { dropDeadLetters, retryDeadLetters } from '../ledger/dead-letters.ts'
import { writeAudit } from '../organisations/audit-log.ts'
import * as dashboard from '../organisations/dashboard-sessions.ts'
import { createToken, noteTokenUse, revokeToken } from '../organisations/management-tokens.ts'
import { addOrganisation, changeOrganisation } from '../organisations/organisations.ts'
import { linkStaging, unlinkStaging } from '../organisations/staging-links.ts'

/**
 * The writes of management, by name. Each runs between two groups of commands, in a transaction of its own. If it returns a function, that is called once the transaction is committed.
 *
 * @param executor executes commands, for retrying dead letters
 * @param now epoch milliseconds, read within the transaction
 * @param writeSeen writes what requests have shown and is only noted in memory
 */
export const operationsOver = (
  database: Database,
  dataDir: string,
  executor: Withholding,
  now: () => number,
  writeSeen: () => () => void,
) => {
  /** A write of this database. */
  const here =
    <Args extends unknown[], Result>(write: (database: Database, ...args: Args) => Result) =>
    (...args: Args): Result =>
      write(database, ...args)
  return {
    changeFlows: (orgRow: number, changes: PreparedChanges) =>
      changeFlows(database, orgRow, changes, now),
    createToken: here(createToken),
    revokeToken: here(revokeToken),
    noteTokenUse: here(noteTokenUse),
    linkStaging: here(linkStaging),
    unlinkStaging: here(unlinkStaging),
    noteAudit: (orgRow: number, entry: AuditEntry) =>
      inTransaction(database, () => writeAudit(database, orgRow, [entry])),
    retryDeadLetters: (orgRow: number, ids: readonly number[], audit: OperationAudit) =>
      retryDeadLetters(database, executor, orgRow, ids, audit),
    dropDeadLetters: here(dropDeadLetters),
    allowPerson: (person: InRows<NamedPerson>, audit: ErasureAudit) =>
      allowAgain(database, dataDir, person, now(), audit),
    createLink: here(dashboard.createLink),
    redeemLink: here(dashboard.redeemLink),
    beginSession: here(dashboard.beginSession),
    endSession: here(dashboard.endSession),
    endSessionsOf: here(dashboard.endSessionsOf),
    noteSeen: here(dashboard.noteSeen),
    addOrganisation: here(addOrganisation),
    changeOrganisation: here(changeOrganisation),
    changeAlertSettings: here(alerts.changeSettings),
    countSends: here(alerts.countSends),
    addWebhook: here(alerts.addWebhook),
    changeWebhook: here(alerts.changeWebhook),
    removeWebhook: here(alerts.removeWebhook),
    noteAlerts: here(alerts.noteAlerts),
    noteAttempt: here(alerts.noteAttempt),
    replayDelivery: here(alerts.replayDelivery),
    forgetAlerts: here(alerts.forgetAlerts),
    writeSeen,
  }
}

export type StorageOperations = ReturnType<typeof operationsOver>
