import type { Database } from 'bun:sqlite'
import { and, asc, desc, eq, gt, gte, inArray, isNull, lt, lte, ne, or, sql } from 'drizzle-orm'
import type { AuditEntry } from '../../../core/organisation/audit.ts'
import type {
  Alert,
  AlertSettings,
  AlertStore,
  Attempted,
  Delivery,
  Noted,
  RequestedSend,
  SendBound,
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

/** A row as others see it: named by its public id. */
const told = <Row extends { id: number; orgId: number; publicId: string }>({
  id: _,
  orgId: __,
  publicId,
  ...row
}: Row) => ({ ...row, id: publicId })

const isWebhook = (orgRow: number, id: string) =>
  and(eq(webhooks.orgId, orgRow), eq(webhooks.publicId, id))

const isDelivery = (orgRow: number, id: string) =>
  and(eq(deliveries.orgId, orgRow), eq(deliveries.publicId, id))

/** See `AlertStore.watched`. */
export function watchedOrganisations(database: Database): string[] {
  const tx = tables(database)
  const set = tx.select({ row: alertSettings.orgId }).from(alertSettings)
  const telling = tx.select({ row: webhooks.orgId }).from(webhooks)
  const rows = tx
    .select({ id: organisations.publicId })
    .from(organisations)
    .where(or(inArray(organisations.id, set), inArray(organisations.id, telling)))
    .orderBy(asc(organisations.id))
    .all()
  return rows.map(({ id }) => id)
}

/** Whether anything is to be watched, or sent. */
export const hasAlerts = (database: Database): boolean => watchedOrganisations(database).length > 0

/** See `AlertStore.settings`. */
export function readSettings(database: Database, orgRow: number): StoredSettings {
  const row = tables(database)
    .select()
    .from(alertSettings)
    .where(eq(alertSettings.orgId, orgRow))
    .get()
  if (!row) return { settings: null, revision: 0, reportedFor: null }
  const { settings, revision, reportedFor } = row
  return { settings: settings as AlertSettings, revision, reportedFor }
}

/** See `AlertStore.changeSettings`. */
export function changeSettings(
  database: Database,
  orgRow: number,
  revision: number,
  { settings, reportedFor, deliveries }: Parameters<AlertStore['changeSettings']>[2],
  maxDeliveries: number,
  audit: AuditEntry,
): boolean {
  return inTransaction(database, tx => {
    if (readSettings(database, orgRow).revision !== revision) return false
    addDeliveries(tx, orgRow, deliveries, maxDeliveries)
    const values = { settings, revision: revision + 1, reportedFor }
    tx.insert(alertSettings)
      .values({ orgId: orgRow, ...values })
      .onConflictDoUpdate({ target: alertSettings.orgId, set: values })
      .run()
    writeAudit(database, orgRow, [audit])
    return true
  })
}

/** See `AlertStore.countSends`. */
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
        const isOfAddress = bound.per.includes('address')
        const before = tx
          .select({ at: requestedSends.at })
          .from(requestedSends)
          .where(
            and(
              eq(requestedSends.kind, kind),
              gt(requestedSends.at, now - bound.withinMs),
              isOfAddress ? eq(requestedSends.address, address ?? '') : undefined,
              bound.per.includes('organisation') ? eq(requestedSends.orgId, orgRow) : undefined,
            ),
          )
          .orderBy(asc(requestedSends.at))
          .all()
        const added = sends.filter(
          send => send.kind === kind && (!isOfAddress || send.address === address),
        )
        const excess = before.length + added.length - bound.max
        if (excess <= 0) continue
        const until = (before[excess - 1]?.at ?? now) + bound.withinMs
        return { bound, address: isOfAddress ? address : null, until }
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

/** See `AlertStore.webhooks`. */
export function listWebhooks(database: Database, orgRow: number): Webhook[] {
  const ofIt = eq(webhooks.orgId, orgRow)
  const rows = tables(database).select().from(webhooks).where(ofIt).orderBy(asc(webhooks.id)).all()
  return rows.map(told)
}

/** See `AlertStore.addWebhook`. */
export function addWebhook(
  database: Database,
  orgRow: number,
  { id, types, ...webhook }: Webhook,
  most: number,
  audit: AuditEntry,
): boolean {
  return inTransaction(database, tx => {
    const ofIt = eq(webhooks.orgId, orgRow)
    if (countOf(tx, webhooks, ofIt) >= most) return false
    tx.insert(webhooks)
      .values({ ...webhook, types: [...types], publicId: id, orgId: orgRow })
      .run()
    writeAudit(database, orgRow, [audit])
    return true
  })
}

/** Changes a webhook; false if there is none. */
function setWebhook(
  tx: Tables,
  orgRow: number,
  id: string,
  { types, ...change }: WebhookChange,
): boolean {
  const set = { ...change, ...(types && { types: [...types] }) }
  const isIt = isWebhook(orgRow, id)
  const found =
    Object.keys(set).length === 0
      ? tx.select({ id: webhooks.id }).from(webhooks).where(isIt).all()
      : tx.update(webhooks).set(set).where(isIt).returning({ id: webhooks.id }).all()
  if (found.length > 0 && change.disabledAt != null) {
    tx.update(deliveries)
      .set({ state: 'failed', dueAt: null, lastFault: 'The webhook was switched off' })
      .where(
        and(
          eq(deliveries.orgId, orgRow),
          eq(deliveries.webhook, id),
          eq(deliveries.state, 'pending'),
        ),
      )
      .run()
  }
  return found.length > 0
}

/** See `AlertStore.changeWebhook`. */
export function changeWebhook(
  database: Database,
  orgRow: number,
  id: string,
  change: WebhookChange,
  audit: AuditEntry | null,
): boolean {
  return inTransaction(database, tx => {
    if (!setWebhook(tx, orgRow, id, change)) return false
    if (audit) writeAudit(database, orgRow, [audit])
    return true
  })
}

/** See `AlertStore.removeWebhook`. */
export function removeWebhook(
  database: Database,
  orgRow: number,
  id: string,
  audit: AuditEntry,
): boolean {
  return inTransaction(database, tx => {
    const gone = tx
      .delete(webhooks)
      .where(isWebhook(orgRow, id))
      .returning({ id: webhooks.id })
      .all()
    if (gone.length === 0) return false
    tx.delete(deliveries)
      .where(and(eq(deliveries.orgId, orgRow), eq(deliveries.webhook, id)))
      .run()
    writeAudit(database, orgRow, [audit])
    return true
  })
}

/** See `AlertStore.alerts`. */
export function listAlerts(database: Database, orgRow: number, resolvedSince: number): Alert[] {
  const isOf = or(ne(alerts.state, 'resolved'), gte(alerts.resolvedAt, resolvedSince))
  const rows = tables(database)
    .select()
    .from(alerts)
    .where(and(eq(alerts.orgId, orgRow), isOf))
    .orderBy(desc(alerts.id))
    .all()
  return rows.map(row => ({ ...told(row), facts: row.facts as Alert['facts'] }))
}

/** See `AlertStore.note`. */
export function noteAlerts(
  database: Database,
  orgRow: number,
  { alerts: noted, deliveries: made, reportedFor }: Noted,
  maxDeliveries: number,
): void {
  inTransaction(database, tx => {
    for (const { id, facts, ...alert } of noted) {
      const isIt = and(eq(alerts.orgId, orgRow), eq(alerts.publicId, id))
      if (alert.state === 'resolved' && alert.openedAt === null) {
        tx.delete(alerts).where(isIt).run()
        continue
      }
      const values = { ...alert, facts: { ...facts } }
      tx.insert(alerts)
        .values({ ...values, publicId: id, orgId: orgRow })
        .onConflictDoUpdate({ target: alerts.publicId, set: values, setWhere: isIt })
        .run()
    }
    addDeliveries(tx, orgRow, made, maxDeliveries)
    if (reportedFor === undefined) return
    tx.update(alertSettings).set({ reportedFor }).where(eq(alertSettings.orgId, orgRow)).run()
  })
}

function addDeliveries(tx: Tables, orgRow: number, made: readonly Delivery[], most: number): void {
  for (const { id, ...delivery } of made) {
    tx.insert(deliveries)
      .values({ ...delivery, publicId: id, orgId: orgRow })
      .run()
  }
  if (made.length > 0) dropOldest(tx, orgRow, most)
}

/** Drops an organisation's deliveries beyond the limit: first those that nobody waits for, the oldest first. */
function dropOldest(tx: Tables, orgRow: number, most: number): void {
  const ofIt = eq(deliveries.orgId, orgRow)
  const there = countOf(tx, deliveries, ofIt)
  if (there <= most) return
  const oldest = tx
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(ofIt)
    .orderBy(sql`due_at is not null`, asc(deliveries.id))
    .limit(there - most)
  tx.delete(deliveries).where(inArray(deliveries.id, oldest)).run()
}

/** See `AlertStore.deliveries`. */
export function listDeliveries(
  database: Database,
  orgRow: number,
  { webhook, most }: Parameters<AlertStore['deliveries']>[1],
): Delivery[] {
  const isOf = webhook === null ? isNull(deliveries.webhook) : eq(deliveries.webhook, webhook)
  const rows = tables(database)
    .select()
    .from(deliveries)
    .where(and(eq(deliveries.orgId, orgRow), isOf))
    .orderBy(desc(deliveries.id))
    .limit(most)
    .all()
  return rows.map(told)
}

/** See `AlertStore.delivery`. */
export function findDelivery(database: Database, orgRow: number, id: string): Delivery | null {
  const row = tables(database).select().from(deliveries).where(isDelivery(orgRow, id)).get()
  return row ? told(row) : null
}

/** See `AlertStore.due`. */
export function dueDeliveries(
  database: Database,
  now: number,
  most: number,
): Awaited<ReturnType<InRows<AlertStore>['due']>> {
  const tx = tables(database)
  // With min() as the only aggregate, the other columns are from the row that has the minimum.
  const first = tx
    .select({ id: deliveries.id, dueAt: sql<number>`min(${deliveries.dueAt})` })
    .from(deliveries)
    .where(lte(deliveries.dueAt, now))
    .groupBy(deliveries.orgId, deliveries.webhook, deliveries.mail)
    .limit(most)
    .all()
  if (first.length === 0) return []
  const rows = tx
    .select({ delivery: deliveries, target: webhooks, organisation: organisations.publicId })
    .from(deliveries)
    .innerJoin(organisations, eq(organisations.id, deliveries.orgId))
    .leftJoin(
      webhooks,
      and(eq(webhooks.publicId, deliveries.webhook), eq(webhooks.orgId, deliveries.orgId)),
    )
    .where(
      inArray(
        deliveries.id,
        first.map(({ id }) => id),
      ),
    )
    .orderBy(asc(deliveries.dueAt))
    .all()
  return rows.map(({ delivery, target, organisation }) => ({
    ...told(delivery),
    orgRef: delivery.orgId,
    organisation,
    target: target && told(target),
  }))
}

/** See `AlertStore.attempted`. */
export function noteAttempt(
  database: Database,
  orgRow: number,
  id: string,
  attempted: Attempted,
  webhook: { id: string; change: WebhookChange } | null,
): void {
  inTransaction(database, tx => {
    tx.update(deliveries).set(attempted).where(isDelivery(orgRow, id)).run()
    if (webhook) setWebhook(tx, orgRow, webhook.id, webhook.change)
  })
}

/** See `AlertStore.replay`. */
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
      .set({ state: 'pending', dueAt: at, attempts: 0 })
      .where(and(isDelivery(orgRow, id), ne(deliveries.state, 'pending')))
      .returning({ id: deliveries.id })
      .all()
    if (replayed.length === 0) return false
    writeAudit(database, orgRow, [audit])
    return true
  })
}

/** See `AlertStore.forget`. */
export function forgetAlerts(
  database: Database,
  deliveriesBefore: number,
  alertsBefore: number,
  most: number,
): void {
  inTransaction(database, tx => {
    const old = tx
      .select({ id: deliveries.id })
      .from(deliveries)
      .where(lt(deliveries.createdAt, deliveriesBefore))
      .limit(most)
    tx.delete(deliveries).where(inArray(deliveries.id, old)).run()
    const counted = tx
      .select({ id: requestedSends.id })
      .from(requestedSends)
      .where(lt(requestedSends.at, deliveriesBefore))
      .limit(most)
    tx.delete(requestedSends).where(inArray(requestedSends.id, counted)).run()
    const over = tx
      .select({ id: alerts.id })
      .from(alerts)
      .where(lt(alerts.resolvedAt, alertsBefore))
      .limit(most)
    tx.delete(alerts).where(inArray(alerts.id, over)).run()
  })
}
