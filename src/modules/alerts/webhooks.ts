import { AppError, invalid } from '../../core/errors.ts'
import type { Auditor } from '../../core/organisation/audit.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import { newId } from '../../core/organisation/ids.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { hourMs, minuteMs } from '../../core/time/durations.ts'
import type { AlertStore, Delivery, Webhook } from '../../storage/interfaces/alerts.ts'
import { dashboardUrl, maxDeliveries, messageOf, newDelivery } from './messages.ts'
import { countSends } from './send-bounds.ts'
import { attempt } from './sender.ts'
import type { AlertDeps } from './service.ts'
import { newWebhookSecret } from './standard-webhooks.ts'

export const maxWebhooks = 10

/** If the server ends during a test, the message is sent again after this time. */
const testAgainMs = minuteMs

const noWebhook = () => new AppError('webhook_not_found', 'There is no such webhook')

/** @throws AppError `webhook_not_found` */
export async function findWebhook(
  store: AlertStore,
  orgRef: OrganisationRef,
  id: string,
): Promise<Webhook> {
  const found = (await store.webhooks(orgRef)).find(webhook => webhook.id === id)
  if (found === undefined) throw noWebhook()
  return found
}

/**
 * Creates a webhook. Only this and a rotation return its secret.
 *
 * @throws AppError `validation_failed`, `too_many_webhooks`
 */
export async function createWebhook(
  { store, outside, onChange }: AlertDeps,
  orgRef: OrganisationRef,
  { url, types = [] }: { url: string; types?: Webhook['types'] },
  audit: Auditor,
): Promise<Webhook & { secret: string }> {
  const problem = outside().problemWith(url)
  if (problem !== null) throw invalid({ path: '/url', message: problem })
  const id = newId('webhook')
  // The path of an address can contain a token, so the audit log gets the host alone.
  const entry = audit('webhook.create', id, { after: { url: new URL(url).host, types } })
  const webhook: Webhook = {
    id,
    url: new URL(url).href,
    types,
    createdAt: entry.at,
    failingSince: null,
    disabledAt: null,
    disabledWhy: null,
    oldSecretUntil: null,
  }
  const secret = newWebhookSecret()
  if (!(await store.addWebhook(orgRef, webhook, secret, maxWebhooks, entry))) {
    const message = `An organisation can have ${maxWebhooks} webhooks. Remove one first`
    throw new AppError('too_many_webhooks', message)
  }
  onChange()
  return { ...webhook, secret }
}

/** Enables or disables a webhook, or sets its types. @throws AppError `webhook_not_found` */
export async function changeWebhook(
  { store, onChange }: AlertDeps,
  orgRef: OrganisationRef,
  id: string,
  patch: { on?: boolean; types?: Webhook['types'] },
  audit: Auditor,
): Promise<Webhook> {
  const { types, disabledAt } = await findWebhook(store, orgRef, id)
  const before = { on: disabledAt === null, types }
  const entry = audit('webhook.change', id, { before, after: patch })
  const change = {
    ...(patch.types && { types: patch.types }),
    ...(patch.on === true && { disabledAt: null, disabledWhy: null, failingSince: null }),
    ...(patch.on === false &&
      disabledAt === null && { disabledAt: entry.at, disabledWhy: 'asked' as const }),
  }
  const changed = await store.changeWebhook(orgRef, id, change, entry)
  if (changed === null) throw noWebhook()
  onChange()
  return changed
}

/** Replaces the secret. The old one also signs for the grace time. @throws AppError `webhook_not_found` */
export async function rotateWebhook(
  store: AlertStore,
  orgRef: OrganisationRef,
  id: string,
  graceHours: number,
  audit: Auditor,
): Promise<Webhook & { secret: string }> {
  const entry = audit('webhook.rotate', id, { after: { graceHours } })
  const secret = newWebhookSecret()
  const oldSecretUntil = graceHours === 0 ? null : entry.at + graceHours * hourMs
  const rotated = await store.rotateWebhook(orgRef, id, secret, oldSecretUntil, entry)
  if (rotated === null) throw noWebhook()
  return { ...rotated, secret }
}

/** @throws AppError `webhook_not_found` */
export async function removeWebhook(
  store: AlertStore,
  orgRef: OrganisationRef,
  id: string,
  audit: Auditor,
): Promise<void> {
  if (!(await store.removeWebhook(orgRef, id, audit('webhook.remove', id)))) throw noWebhook()
}

/**
 * Sends a test message to a webhook now, once.
 *
 * @throws AppError `webhook_not_found`, `sent_too_often`
 */
export async function testWebhook(
  deps: AlertDeps,
  { ref, slug }: Organisation,
  id: string,
  audit: Auditor,
): Promise<Delivery> {
  const { store, clock, outside } = deps
  await findWebhook(store, ref, id)
  const now = clock.now()
  const message = messageOf('webhook.test', now, {
    organisation: slug,
    message: 'This is a test message to check delivery. Nothing is wrong.',
    url: dashboardUrl(outside().publicUrl, slug, 'settings/alerts'),
  })
  // Stored first, as all messages are, but not due at once: otherwise the watch would send it too.
  const delivery = { ...newDelivery({ webhook: id }, message, now), nextAt: now + testAgainMs }
  await countSends(store, ref, [delivery], now, audit('webhook.test', id))
  const changes = { opened: [], resolved: [], deliveries: [delivery] }
  await store.record(ref, changes, maxDeliveries)
  const outgoing = await store.outgoing(ref, delivery.id)
  return outgoing === null ? delivery : { ...delivery, ...(await attempt(deps, outgoing)) }
}

/**
 * Sends a message to a webhook again, under its id.
 *
 * @throws AppError `delivery_not_found`, `sent_too_often`
 */
export async function replayDelivery(
  { store, clock, onChange }: AlertDeps,
  orgRef: OrganisationRef,
  webhook: string,
  id: string,
  audit: Auditor,
): Promise<Delivery> {
  const delivery = await store.delivery(orgRef, id)
  if (delivery === null || delivery.webhook !== webhook) {
    const message = 'There is no such delivery, or it is more than a week old'
    throw new AppError('delivery_not_found', message)
  }
  const now = clock.now()
  await countSends(store, orgRef, [delivery], now, null)
  const entry = audit('webhook.replay', webhook, { after: { delivery: id } })
  await store.replay(orgRef, id, now, entry)
  onChange()
  return (await store.delivery(orgRef, id)) ?? delivery
}
