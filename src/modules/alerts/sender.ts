import type { Clock } from '../../core/time/clock.ts'
import { version } from '../../core/version.ts'
import type { AlertStore, Attempted, OutgoingDelivery } from '../../storage/interfaces/alerts.ts'
import { type AlertNews, alertMail } from './alert-mail.ts'
import { confirmationMail, type MailAction, mailLink } from './mail.ts'
import { type Report, reportSubject, reportText } from './report.ts'
import { afterAttempt, type Sent, signedHeaders } from './standard-webhooks.ts'

export interface Mail {
  to: string
  subject: string
  text: string
  /** For `List-Unsubscribe`. */
  unsubscribe?: string
  /** The same on every attempt, so that a recipient who gets it twice can tell. */
  id: string
}

/** The way out of the machine. Its failures are values, not exceptions. */
export interface Outside {
  /** Posts a JSON text to a webhook. */
  post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<Sent>
  /** What is wrong with an address for a webhook. Null if nothing is. */
  problemWith(url: string): string | null
  /** Null without a mail server, or without an address for the links in mails. */
  mail: ((mail: Mail) => Promise<Sent>) | null
  /** Where browsers reach this server. Null if that is not configured. */
  publicUrl: string | null
  /** Cairn's own key, from which the key of links in mails is derived. */
  serverKey(): Uint8Array
}

export interface SenderDeps {
  store: Pick<AlertStore, 'due' | 'attempted' | 'settings'>
  clock: Clock
  /** As it is configured now. */
  outside(): Outside
}

const noMailServer: Sent = {
  fault: 'No mail server is set: the operator sets CAIRN_SMTP_URL and CAIRN_PUBLIC_URL',
  isFinal: true,
}
const notConfirmed: Sent = { fault: 'The address has not confirmed', isFinal: true }
const nothingToConfirm: Sent = { fault: 'There is nothing to confirm', isFinal: true }

const maxDue = 50

const targetOf = ({ orgRef, webhook, mail }: OutgoingDelivery) =>
  `${String(orgRef)} ${webhook ?? mail}`

/**
 * Makes a function that sends all deliveries that are due and resolves once each was attempted. Each target
 * gets one message at a time.
 *
 * @param onError called for an attempt that could not be stored: its delivery stays due
 */
export function dueSender(deps: SenderDeps, onError: (error: unknown) => void) {
  const busy = new Set<string>()
  const sendAlone = async (delivery: OutgoingDelivery) => {
    const target = targetOf(delivery)
    busy.add(target)
    try {
      await attempt(deps, delivery)
    } catch (error) {
      onError(error)
    } finally {
      busy.delete(target)
    }
  }
  return async (): Promise<void> => {
    const due = await deps.store.due(deps.clock.now(), maxDue)
    await Promise.all(due.filter(one => !busy.has(targetOf(one))).map(sendAlone))
  }
}

/** Makes one attempt, stores it and returns it. */
export async function attempt(deps: SenderDeps, delivery: OutgoingDelivery): Promise<Attempted> {
  const { clock, store } = deps
  const { target, orgRef, id } = delivery
  const sent = await send(deps, delivery)
  const { attempted, change } = afterAttempt(delivery, target, sent, clock.now(), Math.random())
  await store.attempted(orgRef, id, attempted, target && change && { id: target.id, change })
  return attempted
}

async function send(deps: SenderDeps, delivery: OutgoingDelivery): Promise<Sent> {
  const { target, mail, body } = delivery
  if (target !== null) {
    const headers = {
      'content-type': 'application/json',
      'user-agent': `Cairn-Webhooks/${version}`,
      ...signedHeaders(delivery, target, deps.clock.now()),
    }
    return deps.outside().post(target.url, headers, body)
  }
  if (mail === null) return { fault: 'The webhook was removed', isFinal: true }
  return sendMail(deps, delivery, mail)
}

/** An address that has not confirmed gets nothing but the mail that asks it to. */
async function sendMail(
  { store, outside }: SenderDeps,
  { id, type, body, orgRef, organisation }: OutgoingDelivery,
  to: string,
): Promise<Sent> {
  const { mail, publicUrl, serverKey } = outside()
  if (mail === null || publicUrl === null) return noMailServer
  const { settings } = await store.settings(orgRef)
  const recipient = settings?.report.recipients.find(one => one.mail === to)
  if (recipient === undefined) return notConfirmed
  const linkTo = (action: MailAction) =>
    mailLink(publicUrl, { serverKey: serverKey(), organisation, action }, recipient)
  const { data } = JSON.parse(body)
  if (type === 'report.confirm') {
    if (recipient.state !== 'waiting' || recipient.confirmationSentAt === null) {
      return nothingToConfirm
    }
    return mail({ to, id, ...confirmationMail(data.organisation, linkTo('confirm')) })
  }
  if (recipient.state !== 'confirmed') return notConfirmed
  const unsubscribe = linkTo('unsubscribe')
  if (type === 'alerts.news') {
    return mail({ to, id, unsubscribe, ...alertMail(data as AlertNews, unsubscribe) })
  }
  const report = data as Report
  const text = reportText(report, unsubscribe)
  return mail({ to, subject: reportSubject(report), text, id, unsubscribe })
}
