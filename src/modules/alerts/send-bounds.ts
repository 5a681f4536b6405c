import { AppError } from '../../core/errors.ts'
import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { dayMs, hourMs, lasting, minuteMs, weekMs } from '../../core/time/durations.ts'
import type { AlertStore, Delivery, SendBound } from '../../storage/interfaces/alerts.ts'

/** No time is longer than sends are stored: see `deliveriesKeptMs`. */
const bounds: readonly SendBound[] = (
  [
    ['confirmation', ['address', 'organisation'], 3, weekMs, 'confirmations a week to one address'],
    ['confirmation', ['address'], 5, dayMs, 'confirmations a day to one address'],
    ['confirmation', ['organisation'], 20, dayMs, 'confirmations a day'],
    ['report', ['organisation'], 50, dayMs, 'reports a day by mail'],
    ['webhook', ['organisation'], 300, dayMs, 'messages a day to webhooks'],
  ] as const
).map(([kind, per, max, withinMs, what]) => ({
  ...{ kind, per, max, withinMs, description: `${max} ${what}` },
}))

/** Otherwise ann+1@, ann+2@ and so on would each get as many, all in one mailbox. */
const mailboxOf = (mail: string) => mail.toLowerCase().replace(/\+[^@]*@/, '@')

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
  const sends = deliveries.map(({ type, mail }) => {
    if (mail === null) return { kind: 'webhook' as const, address: null }
    const kind = type === 'report.confirm' ? ('confirmation' as const) : ('report' as const)
    return { kind, address: mailboxOf(mail) }
  })
  const exceeded = await store.countSends(orgRef, sends, bounds, now, audit)
  if (exceeded === null) return
  const { bound, address, until } = exceeded
  const waitMs = until - now
  const unit = waitMs < hourMs ? minuteMs : hourMs
  const wait = lasting(Math.ceil(waitMs / unit) * unit)
  const place = address === null ? '' : `${address}: `
  const message = `${place}You can send at most ${bound.description}. Try again in ${wait}`
  throw new AppError('sent_too_often', message, {
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
  })
}
