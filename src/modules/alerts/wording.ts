import { isoTime, isoTimeOrNull } from '../../core/time/clock.ts'
import { hourMs } from '../../core/time/durations.ts'
import type { Alert, WebhookState } from '../../storage/interfaces/alerts.ts'
import { type MessageType, overOf, type RuleName } from './rules.ts'

/** All that a rate of four decimals says; with fewer decimals it would be rounded twice. */
const percent = (rate: unknown) => `${Math.round(Number(rate) * 10_000) / 100} %`

/** What is wrong, in one sentence. */
export function messageOf({ rule, facts }: Pick<Alert, 'rule' | 'facts'>): string {
  switch (rule as RuleName) {
    case 'step.broken':
      return `The step "${facts.step}" of "${facts.flow}" has lost its element: ${facts.okRate === null ? 'nobody' : percent(facts.okRate)} of people find it.`
    case 'completion.fell':
      return `Completion of "${facts.flow}" fell from ${percent(facts.rateBefore)} to ${percent(facts.rate)} week on week (${facts.startsBefore} and ${facts.starts} runs).`
    case 'install.stale':
      return `No page with the snippet has been seen for ${facts.hours} hours.`
    case 'dead_letters.found':
      return `Events that the database refused: ${facts.count}.`
  }
}

/** What to do about it. */
export function fixOf({ rule, facts }: Pick<Alert, 'rule' | 'facts'>): string {
  switch (rule as RuleName) {
    case 'step.broken':
      return facts.suggestion === null
        ? 'Look at the page that the step points at, and choose another element.'
        : 'A suggested selector finds it again: put it into the draft, and publish.'
    case 'completion.fell':
      return 'Compare the two weeks by step, and look for a version or a release between them.'
    case 'install.stale':
      return 'Open a page with the snippet, and look for failed requests in its network log.'
    case 'dead_letters.found':
      return 'Have the operator look at "cairn dead-letters list": a retry can still store them.'
  }
}

/** The dashboard page that shows the alert, below the organisation's address. */
export function pageOf({ rule, facts }: Pick<Alert, 'rule' | 'facts'>): string {
  const flow = encodeURIComponent(String(facts.flow))
  switch (rule as RuleName) {
    case 'step.broken':
      return `flows/${flow}/health`
    case 'completion.fell':
      return `flows/${flow}`
    case 'install.stale':
      return 'install'
    case 'dead_letters.found':
      return ''
  }
}

/** An address in the dashboard; null if it is not configured where browsers reach it. */
export const addressOf = (publicUrl: string | null, slug: string, page: string) =>
  publicUrl && `${publicUrl}/dashboard/${slug}${page && '/'}${page}`

/** The text of a message. Receivers check its signature byte by byte. */
export const bodyOf = (type: MessageType, timestamp: number, data: object) =>
  JSON.stringify({ type, timestamp: isoTime(timestamp), data })

/** The message about an alert that has opened or resolved. */
export function alertMessage(
  alert: Alert,
  { slug, publicUrl, now }: { slug: string; publicUrl: string | null; now: number },
): { type: MessageType; body: string } {
  const rule = alert.rule as RuleName
  const type = alert.state === 'resolved' ? overOf[rule] : rule
  const data = {
    alert: alert.id,
    organisation: slug,
    subject: alert.subject,
    message: messageOf(alert),
    fix: fixOf(alert),
    facts: alert.facts,
    since: isoTime(alert.since),
    openedAt: isoTimeOrNull(alert.openedAt),
    resolvedAt: isoTimeOrNull(alert.resolvedAt),
    url: addressOf(publicUrl, slug, pageOf(alert)),
  }
  return { type, body: bodyOf(type, now, data) }
}

/** How long nothing must have arrived before this is reported, because a receiver may just be restarting. */
const failingForMs = hourMs

/** What is wrong with a webhook, and how to fix it; null if nothing is. */
export function webhookFinding(
  { id, url, disabledAt, disabledWhy, failingSince }: WebhookState,
  now: number,
) {
  const host = new URL(url).host
  if (disabledAt !== null && disabledWhy !== 'asked') {
    return {
      code: 'webhook_disabled',
      webhook: id,
      message:
        disabledWhy === 'gone'
          ? `${host} says that it wants no more messages (410): its webhook is switched off.`
          : `Nothing has arrived at ${host} for five days: its webhook is switched off.`,
      fix: 'Fix the receiver and switch the webhook on again, or remove it.',
      since: isoTime(disabledAt),
    }
  }
  if (failingSince === null || now - failingSince < failingForMs) return null
  return {
    code: 'webhook_failing',
    webhook: id,
    message: `Nothing arrives at the webhook at ${host}. It is tried again, and switched off after five days.`,
    fix: "Check the receiver's answers in the list of deliveries.",
    since: isoTime(failingSince),
  }
}
