import { createHmac, timingSafeEqual } from 'node:crypto'
import { weekMs } from '../../core/time/durations.ts'
import { keyFor } from '../../http/dashboard-tokens.ts'
import type { Recipient } from '../../storage/interfaces/alerts.ts'

/** What a link in a mail can do. */
export const mailActions = ['confirm', 'unsubscribe'] as const
export type MailAction = (typeof mailActions)[number]

const confirmableMs = weekMs

export interface LinkParts {
  serverKey: Uint8Array
  /** `org_…`. */
  organisation: string
  action: MailAction
}

/**
 * Proves that somebody has read a mail. It is stored nowhere, and the API never returns it, so owners cannot
 * confirm for others. A link to confirm stops working once another is sent; one to unsubscribe never does.
 */
function tokenOf({ serverKey, organisation, action }: LinkParts, recipient: Recipient): string {
  const sentAt = action === 'confirm' ? recipient.confirmationSentAt : null
  return createHmac('sha256', keyFor(serverKey, 'mail link'))
    .update(JSON.stringify([action, organisation, recipient.mail, sentAt]))
    .digest('base64url')
}

export const mailLink = (publicUrl: string, parts: LinkParts, recipient: Recipient): string =>
  `${publicUrl}/mail/${parts.action}/${parts.organisation}/${tokenOf(parts, recipient)}`

/** The recipient that a link was mailed to. Null if the link does not work, or no longer. */
export function recipientOfLink(
  recipients: readonly Recipient[],
  parts: LinkParts,
  token: string,
  now: number,
): Recipient | null {
  const sent = Buffer.from(token)
  const recipient = recipients.find(one => {
    const expected = Buffer.from(tokenOf(parts, one))
    return expected.length === sent.length && timingSafeEqual(expected, sent)
  })
  if (!recipient || parts.action === 'unsubscribe') return recipient ?? null
  const { state, confirmationSentAt } = recipient
  if (confirmationSentAt === null) return null
  return state === 'waiting' && now >= confirmationSentAt + confirmableMs ? null : recipient
}

const maxNameLength = 60

/**
 * The mail that asks a reader to confirm. Nobody has requested it, and mail programs make links of anything
 * that looks like an address, so a name that does is replaced by the slug.
 */
export function confirmationMail(organisation: { name: string; slug: string }, link: string) {
  const { name: written, slug } = organisation
  const isUnsafe = written.length > maxNameLength || /[\p{C}/:@]|\.\S/u.test(written)
  const name = isUnsafe ? slug : written
  return {
    subject: `Confirm that you want mail about ${name}`,
    text: `\
${name} added this address to its weekly report and alerts from Cairn.

To receive them, confirm within 7 days:
${link}

If you do not want them, ignore this email. You get nothing else unless you confirm.
`,
  }
}
