import { newId } from '../../core/organisation/ids.ts'
import { dayMs } from '../../core/time/durations.ts'
import type { Delivery, Webhook } from '../../storage/interfaces/alerts.ts'
import type { MessageType } from './rules.ts'

/** How long deliveries are kept, and how many of an organisation at most. */
export const keptMs = 7 * dayMs
export const maxDeliveries = 1_000

/** How long resolved alerts are kept. */
export const alertsKeptMs = 90 * dayMs

/** A new delivery of a message, due at once. */
export const newDelivery = (
  to: Pick<Delivery, 'webhook' | 'mail'>,
  { type, body }: { type: MessageType; body: string },
  now: number,
): Delivery => ({
  id: newId('msg'),
  ...to,
  type,
  body,
  createdAt: now,
  state: 'pending',
  dueAt: now,
  attempts: 0,
  lastAt: null,
  lastStatus: null,
  lastFault: null,
})

const wants = ({ types, disabledAt }: Webhook, type: MessageType) =>
  disabledAt === null && (types.length === 0 || types.includes(type))

/** A delivery to every webhook that wants the message, and to the mail addresses if it is a report. */
export function deliveriesOf(
  message: { type: MessageType; body: string },
  webhooks: readonly Webhook[],
  mails: readonly string[],
  now: number,
): Delivery[] {
  return [
    ...webhooks
      .filter(webhook => wants(webhook, message.type))
      .map(({ id }) => newDelivery({ webhook: id, mail: null }, message, now)),
    ...mails.map(mail => newDelivery({ webhook: null, mail }, message, now)),
  ]
}
