import { randomBytes } from 'node:crypto'
import { Webhook as Signer } from 'standardwebhooks'
import { dayMs, hourMs, minuteMs } from '../../core/time/durations.ts'
import type {
  Attempted,
  Delivery,
  Webhook,
  WebhookChange,
  WebhookSecrets,
} from '../../storage/interfaces/alerts.ts'

/** Signatures and retries of messages as Standard Webhooks (https://www.standardwebhooks.com) defines them. */

/** A new secret: `whsec_` and 32 random bytes in base64. */
export const newWebhookSecret = () => `whsec_${randomBytes(32).toString('base64')}`

/** The headers of a message. During a rotation it is signed with both secrets. */
export function signedHeaders(
  { id, body }: Pick<Delivery, 'id' | 'body'>,
  { secret, oldSecret, oldSecretUntil }: WebhookSecrets,
  now: number,
): Record<string, string> {
  const isRotated = oldSecret !== null && (oldSecretUntil ?? 0) > now
  const secrets = isRotated ? [secret, oldSecret] : [secret]
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

/** A webhook at which nothing has arrived for this long is disabled. */
const maxFailingMs = 5 * dayMs

/** The result of sending: the status of the response, or why there was none. */
export type Sent = { status: number } | { fault: string; isFinal?: boolean }

export interface AfterAttempt {
  attempted: Attempted
  /** What it changes about the webhook. Null if nothing. */
  change: WebhookChange | null
}

/**
 * The delivery and its webhook after an attempt.
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
  const status = 'status' in sent ? sent.status : null
  const fault = 'fault' in sent ? sent.fault.slice(0, 200) : null
  const last = { attempts, lastAt: now, status, fault }
  if (status !== null && status >= 200 && status < 300) {
    const change = target?.failingSince != null ? { failingSince: null } : null
    return { attempted: { ...last, state: 'delivered', nextAt: null }, change }
  }
  // A test is not retried, because whoever sends it sees the result at once.
  const isTest = delivery.type === 'webhook.test'
  const failingSince = target?.failingSince ?? now
  const disabledWhy = status === 410 ? 'gone' : 'failing'
  const isDisabled =
    target !== null && (status === 410 || (!isTest && now - failingSince >= maxFailingMs))
  const pause = pauses[attempts - 1]
  const isFinal = 'isFinal' in sent && sent.isFinal === true
  const isRetried = pause !== undefined && !isTest && !isDisabled && !isFinal
  const attempted: Attempted = {
    ...last,
    state: isRetried ? 'pending' : 'failed',
    nextAt: isRetried ? now + Math.round(pause * (1 + jitter * random)) : null,
  }
  if (target === null) return { attempted, change: null }
  if (isDisabled) return { attempted, change: { failingSince, disabledAt: now, disabledWhy } }
  return { attempted, change: isTest ? null : { failingSince } }
}
