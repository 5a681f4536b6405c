import { dayMs, hourMs, lasting, minuteMs } from '../../core/time/durations.ts'
import type { Delivery, RequestedSend, SendBound } from '../../storage/interfaces/alerts.ts'
import { confirmationType } from './rules.ts'

/** The longest is as long as they are stored: see `keptMs`. */
export const sendBounds: readonly SendBound[] = [
  {
    ...{ kind: 'confirmation', per: ['address'], max: 1, withinMs: hourMs },
    message: 'an address gets one confirmation an hour at most',
  },
  {
    ...{ kind: 'confirmation', per: ['address'], max: 5, withinMs: dayMs },
    message: 'an address gets 5 confirmations a day at most',
  },
  {
    ...{ kind: 'confirmation', per: ['address', 'organisation'], max: 3, withinMs: 7 * dayMs },
    message: 'an organisation asks an address 3 times a week at most',
  },
  {
    ...{ kind: 'confirmation', per: ['organisation'], max: 20, withinMs: dayMs },
    message: 'An organisation sends 20 confirmations a day at most',
  },
  {
    ...{ kind: 'report', per: ['address', 'organisation'], max: 1, withinMs: 10 * minuteMs },
    message: 'an address gets one report in 10 minutes at most',
  },
  {
    ...{ kind: 'report', per: ['organisation'], max: 50, withinMs: dayMs },
    message: 'An organisation sends 50 mails a day on demand at most',
  },
  {
    ...{ kind: 'webhook', per: ['organisation'], max: 30, withinMs: 10 * minuteMs },
    message: 'An organisation sends 30 messages to webhooks in 10 minutes on demand at most',
  },
  {
    ...{ kind: 'webhook', per: ['organisation'], max: 300, withinMs: dayMs },
    message: 'An organisation sends 300 messages to webhooks a day on demand at most',
  },
]

/** How a delivery counts if it is sent on demand. */
export const requestedSend = ({ type, mail }: Pick<Delivery, 'type' | 'mail'>): RequestedSend => {
  if (mail === null) return { kind: 'webhook', address: null }
  // Otherwise ann+1@, ann+2@ and so on would each get as many, all in one mailbox.
  const address = mail.toLowerCase().replace(/\+[^@]*@/, '@')
  return type === confirmationType
    ? { kind: 'confirmation', address }
    : { kind: 'report', address: mail }
}

/** A wait in words, rounded up. */
export function waitOf(ms: number): string {
  const unit = ms < hourMs ? minuteMs : hourMs
  return lasting(Math.ceil(ms / unit) * unit)
}
