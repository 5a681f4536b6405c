import { newId } from '../../core/organisation/ids.ts'
import { isoTime, isoTimeOrNull } from '../../core/time/clock.ts'
import { dayMs } from '../../core/time/durations.ts'
import type { Alert, Delivery, MessageType, Webhook } from '../../storage/interfaces/alerts.ts'
import { rules } from './rules.ts'

/** How long deliveries are stored, and how many per organisation. */
export const deliveriesKeptMs = 7 * dayMs
export const maxDeliveries = 1_000

export interface Message {
  type: MessageType
  /** Receivers check its signature byte by byte. */
  body: string
}

export const messageOf = (type: MessageType, now: number, data: object): Message => ({
  type,
  body: JSON.stringify({ type, timestamp: isoTime(now), data }),
})

/** An address in the dashboard. Null without CAIRN_PUBLIC_URL. */
export const dashboardUrl = (publicUrl: string | null, slug: string, page: string) =>
  publicUrl && `${publicUrl}/dashboard/${slug}${page && '/'}${page}`

/** The message about an alert that was opened or resolved. */
export function alertMessage(
  alert: Alert,
  { slug, publicUrl, now }: { slug: string; publicUrl: string | null; now: number },
): Message {
  const rule = rules[alert.rule]
  return messageOf(alert.resolvedAt === null ? alert.rule : rule.resolvedType, now, {
    alert: alert.id,
    organisation: slug,
    subject: alert.subject,
    message: rule.message(alert.facts),
    fix: rule.fix(alert.facts),
    facts: alert.facts,
    since: isoTime(alert.since),
    openedAt: isoTime(alert.openedAt),
    resolvedAt: isoTimeOrNull(alert.resolvedAt),
    url: dashboardUrl(publicUrl, slug, rule.page(alert.facts)),
  })
}

/** A new delivery of a message, due at once. */
export const newDelivery = (
  to: { webhook: string } | { mail: string },
  message: Message,
  now: number,
): Delivery => ({
  id: newId('msg'),
  webhook: null,
  mail: null,
  ...to,
  ...message,
  createdAt: now,
  state: 'pending',
  nextAt: now,
  attempts: 0,
  lastAt: null,
  status: null,
  fault: null,
})

/** Slack and programs like it take a text alone, and reject everything else. */
const slackHost = 'hooks.slack.com'

/** What a webhook gets: for Slack a sentence, else the whole message. */
function shapedFor({ url }: Webhook, { type, body }: Message): Message {
  if (URL.parse(url)?.hostname !== slackHost) return { type, body }
  const { data } = JSON.parse(body) as { data: Record<string, unknown> }
  const link = data.url ? `\n${data.url}` : ''
  const done = data.resolvedAt ? 'Resolved: ' : ''
  const text = data.message
    ? `${done}${data.message}${done ? '' : ` ${data.fix}`}${link}`
    : `The weekly report of Cairn.${link}`
  return { type, body: JSON.stringify({ text }) }
}

/** A delivery to every webhook that subscribes to the message. */
export const deliveriesTo = (webhooks: readonly Webhook[], message: Message, now: number) =>
  webhooks
    .filter(
      ({ types, disabledAt }) =>
        disabledAt === null && (types.length === 0 || types.some(type => type === message.type)),
    )
    .map(webhook => newDelivery({ webhook: webhook.id }, shapedFor(webhook, message), now))
