import { AppError } from '../../core/errors.ts'
import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { dayMs, hourMs, lasting, minuteMs, weekMs } from '../../core/time/durations.ts'
import type {
  AlertStore,
  Delivery,
  RequestedSend,
  SendBound,
} from '../../storage/interfaces/alerts.ts'

const bound = (
  kind: SendBound['kind'],
  per: SendBound['per'],
  max: number,
  withinMs: number,
  description: string,
): SendBound => ({ kind, per, max, withinMs, description })

const both = ['address', 'organisation'] as const

/** No time is longer than sends are stored: see `deliveriesKeptMs`. */
const bounds: readonly SendBound[] = [
  bound('confirmation', both, 3, weekMs, '3 confirmations a week to one address'),
  bound('confirmation', ['address'], 5, dayMs, '5 confirmations a day to one address'),
  bound('confirmation', ['organisation'], 20, dayMs, '20 confirmations a day'),
  bound('report', ['organisation'], 50, dayMs, '50 reports a day by mail'),
  bound('webhook', ['organisation'], 300, dayMs, '300 messages a day to webhooks'),
]

const requestedSend = ({ type, mail }: Pick<Delivery, 'type' | 'mail'>): RequestedSend => {
  if (mail === null) return { kind: 'webhook', address: null }
  // Otherwise ann+1@, ann+2@ and so on would each get as many, all in one mailbox.
  const address = mail.toLowerCase().replace(/\+[^@]*@/, '@')
  return { kind: type === 'report.confirm' ? 'confirmation' : 'report', address }
}

/**
 * Counts messages that somebody sends on demand.
 *
 * @param audit written if they may be sent
 * @throws AppError `sent_too_often`
 */
export async function countSends(
  store: Pick<AlertStore, 'countSends'>,
  orgRef: OrganisationRef,
  deliveries: readonly Delivery[],
  now: number,
  audit: AuditEntry | null,
): Promise<void> {
  if (deliveries.length === 0) return
  const exceeded = await store.countSends(orgRef, deliveries.map(requestedSend), bounds, now, audit)
  if (exceeded === null) return
  const { bound, address, until } = exceeded
  const waitMs = until - now
  const unit = waitMs < hourMs ? minuteMs : hourMs
  const wait = lasting(Math.ceil(waitMs / unit) * unit)
  const place = address === null ? '' : `${address}: `
  throw new AppError(
    'sent_too_often',
    `${place}You can send at most ${bound.description}. Try again in ${wait}`,
    { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) },
  )
}
