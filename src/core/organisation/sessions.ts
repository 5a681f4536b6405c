import { createHash, randomBytes } from 'node:crypto'
import { dayMs, hourMs, minuteMs } from '../time/durations.ts'
import type { Role } from './access.ts'

/** How long somebody stays signed in without a request, and how long at most. */
export const sessionIdleMs = 8 * hourMs
export const sessionLongestMs = dayMs

/** How long a link to the dashboard can be used, once. */
export const linkMs = 10 * minuteMs

/** Somebody who is signed in to the dashboard. */
export interface DashboardSession {
  role: Role
  /** The person's name as others read it, also in the audit log. */
  name: string
  /** The person at the identity provider; null if Cairn does not know them, as with a link. */
  subject: string | null
  issuer: string | null
  /** The provider's own session, by which it signs people out. */
  sid: string | null
  createdAt: number
  /** To the minute. */
  lastSeenAt: number
  /** When the session ends, whatever is done until then. */
  endsAt: number
}

/** Whether somebody is still signed in. */
export const isStanding = (
  { lastSeenAt, endsAt }: Pick<DashboardSession, 'lastSeenAt' | 'endsAt'>,
  now: number,
): boolean => now < endsAt && now - lastSeenAt < sessionIdleMs

/** The text of a cookie or of a link's code: 256 random bits. */
export const newDashboardSecret = (): string => randomBytes(32).toString('base64url')

const identifier = /^[^\p{Cc}\p{Cf}\p{Cs}]{1,255}$/u

/** Whether a claim names a person, or their session, at the identity provider (OpenID Connect Core 1.0, section 2). */
export const isIdentifier = (claim: unknown): claim is string =>
  typeof claim === 'string' && identifier.test(claim)

const form = /^[A-Za-z0-9_-]{43}$/

/**
 * The hash of such a text, in hex. It is stored, and tokens refer to it; null if the text does not have the
 * form of one.
 */
export const dashboardSecretHash = (text: string): string | null =>
  form.test(text) ? createHash('sha256').update(text).digest('hex') : null
