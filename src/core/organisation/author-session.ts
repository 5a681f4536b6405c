import { createHash } from 'node:crypto'
import { hourMs, minuteMs } from '../time/durations.ts'
import { dashboardSecretHash, newDashboardSecret } from './dashboard-session.ts'

/** How long the ticket of an author session can be redeemed, once. */
export const ticketMs = 2 * minuteMs

/** How long a page stays connected without activity of the author, and how long at most. */
export const visitIdleMs = 30 * minuteMs
export const visitLongestMs = 8 * hourMs

/**
 * The most sessions of one organisation, and of all; the most proposals that a session keeps, and accepts
 * in all.
 */
export const maxAuthorSessions = 20
export const maxAuthorSessionsInAll = 200
export const maxKeptProposals = 5
export const maxProposals = 200

/** After this many wrong codes from its origin, the code of a session no longer works. */
export const maxWrongCodes = 20

/** Without letters and digits that are easily confused. */
const letters = 'ABCDEFGHJKMNPQRSTVWXYZ'
const lettersAndDigits = `${letters}23456789`

function drawn(alphabet: string, length: number): string {
  let text = ''
  while (text.length < length) {
    const [byte = 0] = crypto.getRandomValues(new Uint8Array(1))
    // Makes each character equally likely: bytes beyond the last full round are drawn again.
    if (byte < 256 - (256 % alphabet.length)) text += alphabet[byte % alphabet.length]
  }
  return text
}

/** Four letters that both sides show, so that the author sees that they belong together. */
export const newMatchingCode = (): string => drawn(letters, 4)

/** The code that somebody types if the page's login drops the ticket. */
export const newTypedCode = (): string => drawn(lettersAndDigits, 6)

export const isTypedCode = (text: string): boolean => /^[A-Z2-9]{6}$/.test(text)

/** A ticket, or the token that it is redeemed for: 256 random bits. */
export const newAuthorSecret = newDashboardSecret

/** The hash of such a text that is kept, in hex; null if the text does not have the form of one. */
export const authorSecretHash = dashboardSecretHash

/** The same for a typed code. */
export const typedCodeHash = (code: string): string =>
  createHash('sha256').update(code).digest('hex')
