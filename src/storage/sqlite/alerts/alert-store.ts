import type { Database } from 'bun:sqlite'
import { and, asc, desc, eq, gt, gte, inArray, isNull, lt, lte, ne, or, sql } from 'drizzle-orm'
import type { AuditEntry } from '../../../core/organisation/audit.ts'
import type {
  Alert,
  AlertChanges,
  AlertStore,
  Attempted,
  Delivery,
  RequestedSend,
  SendBound,
  SettingsChange,
  StoredSettings,
  Webhook,
  WebhookChange,
} from '../../interfaces/alerts.ts'
import type { InRows } from '../../shared/in-rows.ts'
import { countOf, inTransaction, type Tables, tables } from '../catalogue/change.ts'
import {
  alertSettings,
  alerts,
  deliveries,
  organisations,
  requestedSends,
  webhooks,
} from '../database/schema.ts'
import { writeAudit } from '../organisations/audit-log.ts'

type Rows = InRows<AlertStore>

const alertColumns = {
  id: alerts.publicId,
  rule: alerts.rule,
  subject: alerts.subject,
  facts: alerts.facts,
  since: alerts.since,
  openedAt: alerts.openedAt,
  resolvedAt: alerts.resolvedAt,
}

/** Without the secrets. */
const webhookColumns = {
  id: webhooks.publicId,
  url: webhooks.url,
  types: webhooks.types,
  createdAt: webhooks.createdAt,
  failingSince: webhooks.failingSince,
  disabledAt: webhooks.disabledAt,
  disabledWhy: webhooks.disabledWhy,
  oldSecretUntil: webhooks.oldSecretUntil,
}

const deliveryColumns = {
  id: deliveries.publicId,
  webhook: deliveries.webhook,
  mail: deliveries.mail,
  type: deliveries.type,
  state: deliveries.state,
  attempts: deliveries.attempts,
  createdAt: deliveries.createdAt,
  lastAt: deliveries.lastAt,
  nextAt: deliveries.nextAt,
  status: deliveries.status,
  fault: deliveries.fault,
  body: deliveries.body,
}

const isWebhook = (orgRow: number, id: string) =>
  and(eq(webhooks.orgId, orgRow), eq(webhooks.publicId, id))

const isDelivery = (orgRow: number, id: string) =>
  and(eq(deliveries.orgId, orgRow), eq(deliveries.publicId, id))

export function watchedOrganisations(database: Database): string[] {
  const tx = tables(database)
  const withSettings = tx.select({ row: alertSettings.orgId }).from(alertSettings)
  const withWebhook = tx.select({ row: webhooks.orgId }).from(webhooks)
  const rows = tx
    .select({ id: organisations.publicId })
    .from(organisations)
    .where(or(inArray(organisations.id, withSettings), inArray(organisations.id, withWebhook)))
    .orderBy(asc(organisations.id))
    .all()
  return rows.map(({ id }) => id)
}

/** Whether there is anything to check or send. */
export const hasAlerts = (database: Database): boolean => watchedOrganisations(database).length > 0

export function readSettings(database: Database, orgRow: number): StoredSettings {
  const row = tables(database)
    .select()
    .from(alertSettings)
    .where(eq(alertSettings.orgId, orgRow))
    .get()
  if (!row) return { settings: null, reportedFor: null }
  return { settings: row.settings, reportedFor: row.reportedFor }
}

export function changeSettings(
  database: Database,
  orgRow: number,
  change: (stored: StoredSettings) => SettingsChange,
  maxDeliveries: number,
): void {
  inTransaction(database, tx => {
    const { deliveries, audit, ...values } = change(readSettings(database, orgRow))
    addDeliveries(tx, orgRow, deliveries, maxDeliveries)
    tx.insert(alertSettings)
      .values({ orgId: orgRow, ...values })
      .onConflictDoUpdate({ target: alertSettings.orgId, set: values })
      .run()
    writeAudit(database, orgRow, [audit])
  })
}

export function countSends(
  database: Database,
  orgRow: number,
  sends: readonly RequestedSend[],
  bounds: readonly SendBound[],
  now: number,
  audit: AuditEntry | null,
): Awaited<ReturnType<AlertStore['countSends']>> {
  return inTransaction(database, tx => {
    for (const { kind, address } of sends) {
      for (const bound of bounds.filter(bound => bound.kind === kind)) {
        const isPerAddress = bound.per.includes('address')
        const before = tx
          .select({ at: requestedSends.at })
          .from(requestedSends)
          .where(
            and(
              eq(requestedSends.kind, kind),
              gt(requestedSends.at, now - bound.withinMs),
              isPerAddress ? eq(requestedSends.address, address ?? '') : undefined,
              bound.per.includes('organisation') ? eq(requestedSends.orgId, orgRow) : undefined,
            ),
          )
          .orderBy(asc(requestedSends.at))
          .all()
        const added = sends.filter(
          send => send.kind === kind && (!isPerAddress || send.address === address),
        )
        const excess = before.length + added.length - bound.max
        if (excess <= 0) continue
        const until = (before[excess - 1]?.at ?? now) + bound.withinMs
        return { bound, address: isPerAddress ? address : null, until }
      }
    }
    for (const send of sends) {
      tx.insert(requestedSends)
        .values({ ...send, orgId: orgRow, at: now })
        .run()
    }
    if (audit) writeAudit(database, orgRow, [audit])
    return null
  })
}

export const listWebhooks = (database: Database, orgRow: number): Webhook[] =>
  tables(database)
    .select(webhookColumns)
    .from(webhooks)
    .where(eq(webhooks.orgId, orgRow))
    .orderBy(asc(webhooks.id))
    .all()

export function addWebhook(
  database: Database,
  orgRow: number,
  { id, ...webhook }: Webhook,
  secret: string,
  max: number,
  audit: AuditEntry,
): boolean {
  return inTransaction(database, tx => {
    if (countOf(tx, webhooks, eq(webhooks.orgId, orgRow)) >= max) return false
    tx.insert(webhooks)
      .values({ ...webhook, secret, publicId: id, orgId: orgRow })
      .run()
    writeAudit(database, orgRow, [audit])
    return true
  })
}

/** Changes a webhook. Null if there is no such webhook. */
function updateWebhook(
  tx: Tables,
  orgRow: number,
  id: string,
  change: WebhookChange,
): Webhook | null {
  const changed = tx
    .update(webhooks)
    // The id is set too, because an update of nothing is not valid SQL.
    .set({ ...change, publicId: id })
    .where(isWebhook(orgRow, id))
    .returning(webhookColumns)
    .get()
  if (!changed) return null
  if (change.disabledAt != null) {
    tx.update(deliveries)
      .set({ state: 'failed', nextAt: null, fault: 'The webhook was disabled' })
      .where(
        and(
          eq(deliveries.orgId, orgRow),
          eq(deliveries.webhook, id),
          eq(deliveries.state, 'pending'),
        ),
      )
      .run()
  }
  return changed
}

export function changeWebhook(
  database: Database,
  orgRow: number,
  id: string,
  change: WebhookChange,
  audit: AuditEntry,
): Webhook | null {
  return inTransaction(database, tx => {
    const changed = updateWebhook(tx, orgRow, id, change)
    if (changed) writeAudit(database, orgRow, [audit])
    return changed
  })
}

export function rotateWebhook(
  database: Database,
  orgRow: number,
  id: string,
  secret: string,
  oldSecretUntil: number | null,
  audit: AuditEntry,
): Webhook | null {
  return inTransaction(database, tx => {
    const oldSecret = oldSecretUntil === null ? null : sql`${webhooks.secret}`
    const rotated = tx
      .update(webhooks)
      .set({ secret, oldSecret, oldSecretUntil })
      .where(isWebhook(orgRow, id))
      .returning(webhookColumns)
      .get()
    if (!rotated) return null
    writeAudit(database, orgRow, [audit])
    return rotated
  })
}

export function removeWebhook(
  database: Database,
  orgRow: number,
  id: string,
  audit: AuditEntry,
): boolean {
  return inTransaction(database, tx => {
    const removed = tx
      .delete(webhooks)
      .where(isWebhook(orgRow, id))
      .returning({ id: webhooks.id })
      .all()
    if (removed.length === 0) return false
    tx.delete(deliveries)
      .where(and(eq(deliveries.orgId, orgRow), eq(deliveries.webhook, id)))
      .run()
    writeAudit(database, orgRow, [audit])
    return true
  })
}

export const listAlerts = (database: Database, orgRow: number, resolvedSince: number): Alert[] =>
  tables(database)
    .select(alertColumns)
    .from(alerts)
    .where(
      and(
        eq(alerts.orgId, orgRow),
        or(isNull(alerts.resolvedAt), gte(alerts.resolvedAt, resolvedSince)),
      ),
    )
    .orderBy(desc(alerts.id))
    .all()

export function recordAlerts(
  database: Database,
  orgRow: number,
  { opened, resolved, deliveries, reportedFor }: AlertChanges,
  maxDeliveries: number,
): void {
  inTransaction(database, tx => {
    for (const { id, ...alert } of opened) {
      tx.insert(alerts)
        .values({ ...alert, publicId: id, orgId: orgRow })
        .run()
    }
    for (const { id, resolvedAt } of resolved) {
      tx.update(alerts)
        .set({ resolvedAt })
        .where(and(eq(alerts.orgId, orgRow), eq(alerts.publicId, id)))
        .run()
    }
    addDeliveries(tx, orgRow, deliveries, maxDeliveries)
    if (reportedFor === undefined) return
    tx.update(alertSettings).set({ reportedFor }).where(eq(alertSettings.orgId, orgRow)).run()
  })
}

function addDeliveries(tx: Tables, orgRow: number, added: readonly Delivery[], max: number): void {
  if (added.length === 0) return
  for (const { id, ...delivery } of added) {
    tx.insert(deliveries)
      .values({ ...delivery, publicId: id, orgId: orgRow })
      .run()
  }
  const ofOrganisation = eq(deliveries.orgId, orgRow)
  const excess = countOf(tx, deliveries, ofOrganisation) - max
  if (excess <= 0) return
  // Those that are done go first.
  const oldest = tx
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(ofOrganisation)
    .orderBy(sql`next_at is not null`, asc(deliveries.id))
    .limit(excess)
  tx.delete(deliveries).where(inArray(deliveries.id, oldest)).run()
}

export function listDeliveries(
  database: Database,
  orgRow: number,
  { webhook, max }: Parameters<AlertStore['deliveries']>[1],
): Delivery[] {
  const isOfTarget = webhook === null ? isNull(deliveries.webhook) : eq(deliveries.webhook, webhook)
  return tables(database)
    .select(deliveryColumns)
    .from(deliveries)
    .where(and(eq(deliveries.orgId, orgRow), isOfTarget))
    .orderBy(desc(deliveries.id))
    .limit(max)
    .all()
}

export const findDelivery = (database: Database, orgRow: number, id: string): Delivery | null =>
  tables(database).select(deliveryColumns).from(deliveries).where(isDelivery(orgRow, id)).get() ??
  null

const outgoing = (database: Database) =>
  tables(database)
    .select({
      delivery: deliveryColumns,
      orgRef: deliveries.orgId,
      organisation: organisations.publicId,
      target: {
        id: webhooks.publicId,
        url: webhooks.url,
        failingSince: webhooks.failingSince,
        secret: webhooks.secret,
        oldSecret: webhooks.oldSecret,
        oldSecretUntil: webhooks.oldSecretUntil,
      },
    })
    .from(deliveries)
    .innerJoin(organisations, eq(organisations.id, deliveries.orgId))
    .leftJoin(
      webhooks,
      and(eq(webhooks.publicId, deliveries.webhook), eq(webhooks.orgId, deliveries.orgId)),
    )

export function outgoingDelivery(
  database: Database,
  orgRow: number,
  id: string,
): Awaited<ReturnType<Rows['outgoing']>> {
  const row = outgoing(database).where(isDelivery(orgRow, id)).get()
  if (!row) return null
  const { delivery, ...rest } = row
  return { ...delivery, ...rest }
}

export function dueDeliveries(
  database: Database,
  now: number,
  max: number,
): Awaited<ReturnType<Rows['due']>> {
  // With min() as the only aggregate, the other columns are from the row that has the minimum.
  const first = tables(database)
    .select({ id: deliveries.id, nextAt: sql<number>`min(${deliveries.nextAt})` })
    .from(deliveries)
    .where(lte(deliveries.nextAt, now))
    .groupBy(deliveries.orgId, deliveries.webhook, deliveries.mail)
    .limit(max)
    .all()
  if (first.length === 0) return []
  const isFirst = inArray(
    deliveries.id,
    first.map(({ id }) => id),
  )
  return outgoing(database)
    .where(isFirst)
    .orderBy(asc(deliveries.nextAt))
    .all()
    .map(({ delivery, ...rest }) => ({ ...delivery, ...rest }))
}

export function recordAttempt(
  database: Database,
  orgRow: number,
  id: string,
  attempted: Attempted,
  webhook: { id: string; change: WebhookChange } | null,
): void {
  inTransaction(database, tx => {
    tx.update(deliveries).set(attempted).where(isDelivery(orgRow, id)).run()
    if (webhook) updateWebhook(tx, orgRow, webhook.id, webhook.change)
  })
}

export function replayDelivery(
  database: Database,
  orgRow: number,
  id: string,
  at: number,
  audit: AuditEntry,
): boolean {
  return inTransaction(database, tx => {
    const replayed = tx
      .update(deliveries)
      .set({ state: 'pending', nextAt: at, attempts: 0 })
      .where(and(isDelivery(orgRow, id), ne(deliveries.state, 'pending')))
      .returning({ id: deliveries.id })
      .all()
    if (replayed.length === 0) return false
    writeAudit(database, orgRow, [audit])
    return true
  })
}

export function forgetAlerts(
  database: Database,
  deliveriesBefore: number,
  alertsBefore: number,
  max: number,
): void {
  inTransaction(database, tx => {
    const oldDeliveries = tx
      .select({ id: deliveries.id })
      .from(deliveries)
      .where(lt(deliveries.createdAt, deliveriesBefore))
      .limit(max)
    tx.delete(deliveries).where(inArray(deliveries.id, oldDeliveries)).run()
    const oldSends = tx
      .select({ id: requestedSends.id })
      .from(requestedSends)
      .where(lt(requestedSends.at, deliveriesBefore))
      .limit(max)
    tx.delete(requestedSends).where(inArray(requestedSends.id, oldSends)).run()
    const oldAlerts = tx
      .select({ id: alerts.id })
      .from(alerts)
      .where(lt(alerts.resolvedAt, alertsBefore))
      .limit(max)
    tx.delete(alerts).where(inArray(alerts.id, oldAlerts)).run()
  })
}
