import type { Database } from 'bun:sqlite'
import type { AuditEntry } from '../../../core/organisation/audit.ts'
import type { NewManagementToken } from '../../../modules/access/port.ts'
import type {
  AlertSettings,
  Attempted,
  Noted,
  Webhook,
  WebhookChange,
} from '../../../modules/alerts/port.ts'
import type { NewLink, NewSession, SignedOut } from '../../../modules/dashboard/port.ts'
import type { AuditOfBoth, Pair } from '../../../modules/environments/port.ts'
import type { OperationAudit } from '../../../modules/operations/port.ts'
import type {
  NewOrganisation,
  NewStaging,
  OrganisationChange,
} from '../../../modules/organisations/port.ts'
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
 * The writes of management, by name. Each runs in the writer's thread between two groups of commands, in a
 * transaction of its own. If it returns a function, that is called once the transaction is committed.
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
) => ({
  changeFlows: (orgRow: number, changes: PreparedChanges) =>
    changeFlows(database, orgRow, changes, now),
  createToken: (orgRow: number, token: NewManagementToken, audit: AuditEntry) =>
    createToken(database, orgRow, token, audit),
  revokeToken: (orgRow: number, id: string, audit: AuditEntry) =>
    revokeToken(database, orgRow, id, audit),
  linkStaging: (pair: InRows<Pair>, at: number, audit: AuditOfBoth) =>
    linkStaging(database, pair, at, audit),
  unlinkStaging: (pair: InRows<Pair>, audit: AuditOfBoth) => unlinkStaging(database, pair, audit),
  noteAudit: (orgRow: number, entry: AuditEntry) =>
    inTransaction(database, () => writeAudit(database, orgRow, [entry])),
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
  addOrganisation: (
    organisation: NewOrganisation,
    audit: AuditEntry,
    staging?: InRows<NewStaging>,
  ) => addOrganisation(database, organisation, audit, staging),
  changeOrganisation: (orgRow: number, change: OrganisationChange) =>
    changeOrganisation(database, orgRow, change),
  changeAlertSettings: (
    orgRow: number,
    revision: number,
    settings: AlertSettings,
    reportedFor: string | null,
    audit: AuditEntry,
  ) => alerts.changeSettings(database, orgRow, revision, settings, reportedFor, audit),
  addWebhook: (orgRow: number, webhook: Webhook, most: number, audit: AuditEntry) =>
    alerts.addWebhook(database, orgRow, webhook, most, audit),
  changeWebhook: (orgRow: number, id: string, change: WebhookChange, audit: AuditEntry | null) =>
    alerts.changeWebhook(database, orgRow, id, change, audit),
  removeWebhook: (orgRow: number, id: string, audit: AuditEntry) =>
    alerts.removeWebhook(database, orgRow, id, audit),
  noteAlerts: (orgRow: number, noted: Noted, mostDeliveries: number) =>
    alerts.noteAlerts(database, orgRow, noted, mostDeliveries),
  noteAttempt: (
    orgRow: number,
    id: string,
    attempted: Attempted,
    webhook: { id: string; change: WebhookChange } | null,
  ) => alerts.noteAttempt(database, orgRow, id, attempted, webhook),
  replayDelivery: (orgRow: number, id: string, at: number, audit: AuditEntry) =>
    alerts.replayDelivery(database, orgRow, id, at, audit),
  forgetAlerts: (deliveriesBefore: number, alertsBefore: number, most: number) =>
    alerts.forgetAlerts(database, deliveriesBefore, alertsBefore, most),
  writeSeen,
})

export type StorageOperations = ReturnType<typeof operationsOver>

/** A call of one of these operations, as it passes between threads. */
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
