import type { Clock } from '../../core/time/clock.ts'
import { version } from '../../core/version.ts'
import type { AlertStore, Attempted, Delivery, DueDelivery, Webhook } from './port.ts'
import { type Report, reportHtml, reportText, subjectOf } from './report.ts'
import { afterAttempt, type Sent, signedHeaders } from './standard-webhooks.ts'

/** A mail as it leaves. */
export interface Mail {
  to: string
  subject: string
  text: string
  html: string
  /** The same however often it is sent, so that who gets it twice can tell. */
  id: string
}

/** The way out of the machine. What goes wrong there is a value. */
export interface Outside {
  /** Posts a JSON text to a webhook. */
  post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<Sent>
  /** Whether an address may be a webhook's; what is wrong with it where not. */
  faultOf(url: string): string | null
  /** Null where no mail server is set. */
  mail: ((mail: Mail) => Promise<Sent>) | null
  /** Where browsers reach this server; null where nobody has said. */
  publicUrl: string | null
}

const noMailServer: Sent = {
  fault: 'No mail server is set: the operator sets CAIRN_SMTP_URL',
  isFinal: true,
}

/** Deliveries looked for at once. */
const mostDue = 50

/** Sends what is due, and writes down how it went. */
export class Sender {
  /** Targets that something is on its way to: each gets one message after the other. */
  private readonly busy = new Set<string>()

  constructor(
    private readonly deps: {
      store: Pick<AlertStore, 'due' | 'attempted'>
      clock: Clock
      /** As it is by now. */
      outside(): Outside
      random?: () => number
      /** Told of an attempt that could not even be written down. */
      onFault(error: unknown): void
    },
  ) {}

  /** Begins to send what is due to targets that nothing is on its way to; resolves once that is done. */
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
      // Nothing is lost: it is due until an attempt is written down.
      this.deps.onFault(error)
    } finally {
      this.busy.delete(target)
    }
  }

  /** One attempt, as it was written down. */
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
