import { createHash } from 'node:crypto'
import { hourMs, minuteMs } from '../time/durations.ts'
import { dashboardSecretHash, newDashboardSecret } from './dashboard-session.ts'

/** How long the ticket of an author session can be spent, once. */
export const ticketMs = 2 * minuteMs

/** How long a page goes on without a word from the author, and at most. */
export const visitIdleMs = 30 * minuteMs
export const visitLongestMs = 8 * hourMs

/** Sessions of one organisation, and of all; proposals that one keeps, and takes in all. */
export const mostAuthorSessions = 20
export const mostAuthorSessionsInAll = 200
export const mostKeptProposals = 5
export const mostProposals = 200

/** Wrong codes from its origin after which that of a session is worth nothing. */
export const mostWrongCodes = 20

/** Without letters and digits that are taken for one another. */
const letters = 'ABCDEFGHJKMNPQRSTVWXYZ'
const lettersAndDigits = `${letters}23456789`

function drawn(alphabet: string, length: number): string {
  let text = ''
  while (text.length < length) {
    const [byte = 0] = crypto.getRandomValues(new Uint8Array(1))
    // Each equally likely: bytes beyond the last whole round are drawn again.
    if (byte < 256 - (256 % alphabet.length)) text += alphabet[byte % alphabet.length]
  }
  return text
}

/** Four letters that both sides show, so that the author sees that they belong together. */
export const newMatchingCode = (): string => drawn(letters, 4)

/** What somebody types where the page's login drops the ticket. */
export const newTypedCode = (): string => drawn(lettersAndDigits, 6)

export const isTypedCode = (text: string): boolean => /^[A-Z2-9]{6}$/.test(text)

/** The text of a ticket, or of the token that it is spent for: 256 random bits. */
export const newAuthorSecret = newDashboardSecret

/** What is kept of such a text, in hex; null for what is none. */
export const authorSecretHash = dashboardSecretHash

/** The same of a code that is typed. */
export const typedCodeHash = (code: string): string =>
  createHash('sha256').update(code).digest('hex')
