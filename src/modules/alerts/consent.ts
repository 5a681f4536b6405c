import { createHmac, timingSafeEqual } from 'node:crypto'
import { weekMs } from '../../core/time/durations.ts'
import { keyFor } from '../../http/dashboard-tokens.ts'
import type { AlertSettings, Consent, ReportSettings } from '../../storage/interfaces/alerts.ts'

/** What a link in a mail can do. */
export const mailActions = ['confirm', 'unsubscribe'] as const
export type MailAction = (typeof mailActions)[number]

const confirmableMs = weekMs

const noConsent: Consent = { state: 'waiting', confirmationSentAt: null }

export const consentOf = ({ consents }: ReportSettings, mail: string): Consent =>
  consents?.[mail] ?? noConsent

/** The addresses that reports are mailed to. */
export const confirmedMails = (report: ReportSettings): string[] =>
  report.mails.filter(mail => consentOf(report, mail).state === 'confirmed')

/** The settings with another consent of some addresses. */
export const withConsent = (
  settings: AlertSettings,
  mails: readonly string[],
  consent: Consent,
): AlertSettings => {
  const changed = Object.fromEntries(mails.map(mail => [mail, consent]))
  const consents = { ...settings.report.consents, ...changed }
  return { ...settings, report: { ...settings.report, consents } }
}

/** What links in mails are made from. */
export interface LinkParts {
  serverKey: Uint8Array
  /** `org_…`. */
  organisation: string
  action: MailAction
}

/**
 * Proves that somebody has read a mail. It is stored nowhere, and the API never returns it, so owners cannot
 * confirm for others. A link to confirm is void once another is sent; one to unsubscribe never is.
 */
function tokenOf({ serverKey, organisation, action }: LinkParts, mail: string, consent: Consent) {
  const sentAt = action === 'confirm' ? consent.confirmationSentAt : null
  return createHmac('sha256', keyFor(serverKey, 'mail link'))
    .update(JSON.stringify([action, organisation, mail, sentAt]))
    .digest('base64url')
}

export const mailLink = (
  publicUrl: string,
  parts: LinkParts,
  mail: string,
  report: ReportSettings,
): string =>
  `${publicUrl}/mail/${parts.action}/${parts.organisation}/${tokenOf(parts, mail, consentOf(report, mail))}`

const isSame = (a: Buffer, b: Buffer) => a.length === b.length && timingSafeEqual(a, b)

/** The address that a link was mailed to. */
export interface Linked {
  mail: string
  consent: Consent
}

/** What a token is for; null if it is for nothing, or no longer. */
export function linkedTo(
  report: ReportSettings,
  parts: LinkParts,
  token: string,
  now: number,
): Linked | null {
  const linked = report.mails
    .map(mail => ({ mail, consent: consentOf(report, mail) }))
    .find(({ mail, consent }) =>
      isSame(Buffer.from(tokenOf(parts, mail, consent)), Buffer.from(token)),
    )
  if (linked === undefined) return null
  const { state, confirmationSentAt } = linked.consent
  const isOver =
    parts.action === 'confirm' &&
    (confirmationSentAt === null ||
      (state === 'waiting' && now >= confirmationSentAt + confirmableMs))
  return isOver ? null : linked
}
