import type { Clock } from '../../core/time/clock.ts'
import { version } from '../../core/version.ts'
import type { AlertStore, Attempted, Delivery, DueDelivery, Webhook } from './port.ts'
import { type Report, reportHtml, reportText, subjectOf } from './report.ts'
import { afterAttempt, type Sent, signedHeaders } from './standard-webhooks.ts'

/** A mail as it is sent. */
export interface Mail {
  to: string
  subject: string
  text: string
  html: string
  /** The same however often the mail is sent, so that a recipient who gets it twice can tell. */
  id: string
}

/** The way out of the machine. Its failures are values, not exceptions. */
export interface Outside {
  /** Posts a JSON text to a webhook. */
  post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<Sent>
  /** What is wrong with an address that is to be a webhook's; null if nothing is. */
  faultOf(url: string): string | null
  /** Null if no mail server is set. */
  mail: ((mail: Mail) => Promise<Sent>) | null
  /** Where browsers reach this server; null if that is not configured. */
  publicUrl: string | null
}

const noMailServer: Sent = {
  fault: 'No mail server is set: the operator sets CAIRN_SMTP_URL',
  isFinal: true,
}

/** The most deliveries that are looked up at once. */
const mostDue = 50

/** Sends deliveries that are due, and stores how each attempt went. */
export class Sender {
  /** Targets that a message is on its way to, because each target gets one message after the other. */
  private readonly busy = new Set<string>()

  constructor(
    private readonly deps: {
      store: Pick<AlertStore, 'due' | 'attempted'>
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
    const due = await this.deps.store.due(this.deps.clock.now(), mostDue)
    const free = due.filter(one => !this.busy.has(targetOf(one)))
    await Promise.all(free.map(delivery => this.sendAlone(delivery)))
  }

  private async sendAlone(delivery: DueDelivery): Promise<void> {
    const target = targetOf(delivery)
    this.busy.add(target)
    try {
      await this.attempt(delivery, delivery.target, delivery.orgRef)
    } catch (error) {
      // Nothing is lost: the delivery stays due until an attempt is stored.
      this.deps.onFault(error)
    } finally {
      this.busy.delete(target)
    }
  }

  /** Makes one attempt, and returns what was stored about it. */
  async attempt(
    delivery: Delivery,
    target: Webhook | null,
    orgRef: DueDelivery['orgRef'],
  ): Promise<Attempted> {
    const { clock, store, random = Math.random } = this.deps
    const sent = await this.send(delivery, target, clock.now())
    const { attempted, change } = afterAttempt(delivery, target, sent, clock.now(), random())
    const webhook = target && change && { id: target.id, change }
    await store.attempted(orgRef, delivery.id, attempted, webhook)
    return attempted
  }

  private send(delivery: Delivery, target: Webhook | null, now: number): Promise<Sent> | Sent {
    const outside = this.deps.outside()
    const { id, mail, body } = delivery
    if (target !== null) {
      const headers = {
        'content-type': 'application/json',
        'user-agent': `Cairn-Webhooks/${version}`,
        ...signedHeaders(delivery, target, now),
      }
      return outside.post(target.url, headers, body)
    }
    if (mail === null) return { fault: 'The webhook is gone', isFinal: true }
    if (outside.mail === null) return noMailServer
    const { data: report } = JSON.parse(body) as { data: Report }
    const [text, html] = [reportText(report), reportHtml(report)]
    return outside.mail({ to: mail, subject: subjectOf(report), text, html, id })
  }
}

const targetOf = ({ orgRef, webhook, mail }: DueDelivery) => `${String(orgRef)} ${webhook ?? mail}`
