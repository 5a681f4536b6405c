import type { Clock } from '../../core/time/clock.ts'
import { version } from '../../core/version.ts'
import type { AlertStore, Attempted, DueDelivery } from '../../storage/interfaces/alerts.ts'
import { confirmationSubject, confirmationText } from './confirmation.ts'
import { consentOf, type MailAction, mailLink } from './consent.ts'
import { type Report, reportHtml, reportText, subjectOf } from './report.ts'
import { confirmationType } from './rules.ts'
import { afterAttempt, type Sent, signedHeaders } from './standard-webhooks.ts'

/** A mail as it is sent. */
export interface Mail {
  to: string
  subject: string
  text: string
  html?: string
  /** For `List-Unsubscribe`. */
  unsubscribe?: string
  /** The same however often the mail is sent, so that a recipient who gets it twice can tell. */
  id: string
}

/** The way out of the machine. Its failures are values, not exceptions. */
export interface Outside {
  /** Posts a JSON text to a webhook. */
  post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<Sent>
  /** What is wrong with an address that is to be a webhook's; null if nothing is. */
  faultOf(url: string): string | null
  /** Null if no mail server is set, or no address for the links in mails. */
  mail: ((mail: Mail) => Promise<Sent>) | null
  /** Where browsers reach this server; null if that is not configured. */
  publicUrl: string | null
  /** Cairn's own key, from which the key of links in mails is derived. */
  serverKey(): Uint8Array
}

const noMailServer: Sent = {
  fault: 'No mail server is set: the operator sets CAIRN_SMTP_URL and CAIRN_PUBLIC_URL',
  isFinal: true,
}
const notConfirmed: Sent = { fault: 'The address has not confirmed', isFinal: true }
const nothingToConfirm: Sent = { fault: 'There is nothing to confirm', isFinal: true }

/** The most deliveries that are looked up at once. */
const maxDue = 50

/** Sends deliveries that are due, and stores how each attempt went. */
export class Sender {
  /** Targets that a message is on its way to, because each target gets one message after the other. */
  private readonly busy = new Set<string>()

  constructor(
    private readonly deps: {
      store: Pick<AlertStore, 'due' | 'attempted' | 'settings'>
      clock: Clock
      /** As it currently is. */
      outside(): Outside
      random?: () => number
      /** Called for an attempt that could not even be stored. */
      onFault(error: unknown): void
    },
  ) {}

  /** Sends what is due to targets that nothing is on its way to; resolves once all of that was tried. */
  async sendDue(): Promise<void> {
    const due = await this.deps.store.due(this.deps.clock.now(), maxDue)
    const free = due.filter(one => !this.busy.has(targetOf(one)))
    await Promise.all(free.map(delivery => this.sendAlone(delivery)))
  }

  private async sendAlone(delivery: DueDelivery): Promise<void> {
    const target = targetOf(delivery)
    this.busy.add(target)
    try {
      await this.attempt(delivery)
    } catch (error) {
      // Nothing is lost: the delivery stays due until an attempt is stored.
      this.deps.onFault(error)
    } finally {
      this.busy.delete(target)
    }
  }

  /** Makes one attempt, and returns what was stored about it. */
  async attempt(delivery: DueDelivery): Promise<Attempted> {
    const { clock, store, random = Math.random } = this.deps
    const { target, orgRef } = delivery
    const sent = await this.send(delivery, clock.now())
    const { attempted, change } = afterAttempt(delivery, target, sent, clock.now(), random())
    const webhook = target && change && { id: target.id, change }
    await store.attempted(orgRef, delivery.id, attempted, webhook)
    return attempted
  }

  private async send(delivery: DueDelivery, now: number): Promise<Sent> {
    const outside = this.deps.outside()
    const { mail, body, target } = delivery
    if (target !== null) {
      const headers = {
        'content-type': 'application/json',
        'user-agent': `Cairn-Webhooks/${version}`,
        ...signedHeaders(delivery, target, now),
      }
      return outside.post(target.url, headers, body)
    }
    if (mail === null) return { fault: 'The webhook is gone', isFinal: true }
    return this.sendMail(delivery, mail, outside)
  }

  /** Nothing but the confirmation itself is mailed to an address that has not confirmed. */
  private async sendMail(
    { id, type, body, orgRef, organisation }: DueDelivery,
    mail: string,
    outside: Outside,
  ): Promise<Sent> {
    const { publicUrl } = outside
    if (outside.mail === null || publicUrl === null) return noMailServer
    const { settings } = await this.deps.store.settings(orgRef)
    if (settings === null) return notConfirmed
    const { state, confirmationSentAt } = consentOf(settings.report, mail)
    const linkTo = (action: MailAction) => {
      const parts = { serverKey: outside.serverKey(), organisation, action }
      return mailLink(publicUrl, parts, mail, settings.report)
    }
    const { data } = JSON.parse(body)
    if (type === confirmationType) {
      if (state !== 'waiting' || confirmationSentAt === null) return nothingToConfirm
      const { organisation } = data as Pick<Report, 'organisation'>
      const subject = confirmationSubject(organisation)
      const text = confirmationText(organisation, linkTo('confirm'))
      return outside.mail({ to: mail, subject, text, id })
    }
    if (state !== 'confirmed') return notConfirmed
    const report = data as Report
    const unsubscribe = linkTo('unsubscribe')
    const [text, html] = [reportText(report, unsubscribe), reportHtml(report, unsubscribe)]
    return outside.mail({ to: mail, subject: subjectOf(report), text, html, id, unsubscribe })
  }
}

const targetOf = ({ orgRef, webhook, mail }: DueDelivery) => `${String(orgRef)} ${webhook ?? mail}`
