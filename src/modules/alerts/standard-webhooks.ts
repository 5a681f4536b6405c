import { randomBytes } from 'node:crypto'
import { Webhook as Signer } from 'standardwebhooks'
import { dayMs, hourMs, minuteMs } from '../../core/time/durations.ts'
import type {
  Attempted,
  Delivery,
  Webhook,
  WebhookChange,
} from '../../storage/interfaces/alerts.ts'

/** Signatures and retries of messages as Standard Webhooks (https://www.standardwebhooks.com) defines them. */

/** A new secret: `whsec_` and 32 random bytes in base64. */
export const newWebhookSecret = () => `whsec_${randomBytes(32).toString('base64')}`

/** The headers of a message. During a rotation it is signed with both secrets. */
export function signedHeaders(
  { id, body }: Pick<Delivery, 'id' | 'body'>,
  { secret, oldSecret, oldSecretUntil }: Pick<Webhook, 'secret' | 'oldSecret' | 'oldSecretUntil'>,
  now: number,
): Record<string, string> {
  const isRotated = oldSecret !== null && (oldSecretUntil ?? 0) > now
  const secrets = [secret, ...(isRotated ? [oldSecret] : [])]
  const sentAt = new Date(now)
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now / 1_000)),
    'webhook-signature': secrets.map(one => new Signer(one).sign(id, sentAt, body)).join(' '),
  }
}

/** The pauses after each failed attempt. */
const pauses = [
  5_000,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  dayMs,
]
/** A pause is longer by up to this share of itself, so that retries do not all come at the same time. */
const jitter = 0.2

/** A webhook at which nothing has arrived for this long is switched off. */
const patienceMs = 5 * dayMs

/** The result of sending: the status of the answer, or why there was none. */
export type Sent = { status: number } | { fault: string; isFinal?: boolean }

export interface AfterAttempt {
  attempted: Attempted
  /** What it changes about the webhook; null if nothing. */
  change: WebhookChange | null
}

/**
 * What becomes of a delivery after an attempt.
 *
 * @param target null for mail
 * @param random 0 to 1
 */
export function afterAttempt(
  delivery: Pick<Delivery, 'attempts' | 'type'>,
  target: Pick<Webhook, 'failingSince'> | null,
  sent: Sent,
  now: number,
  random: number,
): AfterAttempt {
  const attempts = delivery.attempts + 1
  const [lastStatus, lastFault] =
    'status' in sent ? [sent.status, null] : [null, sent.fault.slice(0, 200)]
  const said = { attempts, lastAt: now, lastStatus, lastFault }
  if ('status' in sent && sent.status >= 200 && sent.status < 300) {
    const change = target?.failingSince != null ? { failingSince: null } : null
    return { attempted: { ...said, state: 'delivered', dueAt: null }, change }
  }
  const isGone = lastStatus === 410 && target !== null
  const failingSince = target?.failingSince ?? now
  // A test is not retried, because whoever sends it sees the result at once.
  const isTest = delivery.type === 'webhook.test'
  const isGivenUp = target !== null && !isTest && now - failingSince >= patienceMs
  const pause = pauses[attempts - 1]
  const isLast =
    pause === undefined || isTest || isGone || isGivenUp || ('isFinal' in sent && sent.isFinal)
  return {
    attempted: isLast
      ? { ...said, state: 'failed', dueAt: null }
      : {
          ...said,
          state: 'pending',
          dueAt: now + Math.round(pause * (1 + jitter * random)),
        },
    change:
      target === null || (isTest && !isGone)
        ? null
        : {
            failingSince,
            ...(isGone && { disabledAt: now, disabledWhy: 'gone' }),
            ...(isGivenUp && { disabledAt: now, disabledWhy: 'failing' }),
          },
  }
}
