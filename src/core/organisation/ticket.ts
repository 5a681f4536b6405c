import { createHash } from 'node:crypto'
import { hourMs, minuteMs } from '../time/durations.ts'
import { dashboardSecretHash, newDashboardSecret } from './sessions.ts'

/** The rules for tickets: secrets with which pages of one origin see a draft, or propose an element for a step. */

/** The most working tickets of one kind, of one organisation and of all. */
export const maxTickets = 20
export const maxTicketsInAll = 400

/** The most characters of JSON of all previewed flows that are stored nowhere else. */
export const maxPreviewedText = 32 * 1024 * 1024

/** How long an ended ticket is remembered, so that its author can see that it has ended. */
export const rememberedMs = 5 * minuteMs

/** Forgets tickets that ended a while ago. */
export function forgetEnded(tickets: Map<string, { expiresAt: number }>, now: number): void {
  for (const [id, { expiresAt }] of tickets) {
    if (now >= expiresAt + rememberedMs) tickets.delete(id)
  }
}

/** How long a preview link works, in minutes. */
export const previewMinutes = { min: 15, default: 30, max: 60 } as const

/** How long the ticket of an author session can be redeemed, once. */
export const redeemMs = 2 * minuteMs

/** How long a page stays connected without a request, and how long in all. */
export const visitIdleMs = 30 * minuteMs
export const maxVisitMs = 8 * hourMs

/** How many proposals an author session keeps, and how many it accepts in all. */
export const maxKeptProposals = 5
export const maxProposals = 200

/** How many changes wait for the author's dashboard, in how many characters of JSON, and how many are accepted in all. */
export const maxWaitingChanges = 50
export const maxWaitingText = 128 * 1024
export const maxChanges = 5_000

/** How many requests the page of a builder may make a second. A page in use makes about three. */
export const maxBuildRequests = 20

/** The author's dashboard counts as open for as long after it last read the session. */
export const attendedMs = 10_000

/** After this many wrong codes from its origin, the code of a session no longer works. */
export const maxWrongCodes = 20

/** A ticket, or the token that it is exchanged for: 256 random bits. */
export const newTicketSecret = newDashboardSecret

/** The hash of such a text, in hex. Null if the text does not have the form of one. */
export const ticketSecretHash = dashboardSecretHash

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

/** Four letters that the dashboard and the page show, so that the author sees that they belong together. */
export const newMatchingCode = (): string => drawn(letters, 4)

/** The code that an author types if the page's login drops the ticket from the address. */
export const newTypedCode = (): string => drawn(lettersAndDigits, 6)

/** The hash of a typed code, in hex. Null if the text does not have the form of one. */
export function typedCodeHash(text: string): string | null {
  const code = text.trim().toUpperCase()
  return /^[A-Z2-9]{6}$/.test(code) ? createHash('sha256').update(code).digest('hex') : null
}

/** The first release whose snippet supports previews. Older ones ignore the link's mark in the address. */
export const previewsSince = '0.1.0'

const numbersOf = (version: string) => /^(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number)

/**
 * Whether a snippet of this version is too old to show previews. A text that is not a version, as from a
 * snippet that runs from source, counts as new.
 */
export function isTooOldForPreviews(version: string): boolean {
  const [seen, since] = [numbersOf(version), numbersOf(previewsSince)!]
  const at = seen?.findIndex((number, i) => number !== since[i]) ?? -1
  return at >= 0 && seen![at]! < since[at]!
}
