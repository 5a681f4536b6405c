import { createHash, randomBytes } from 'node:crypto'
import { text } from '../flow/values.ts'
import { dayMs, hourMs, minuteMs } from '../time/durations.ts'
import type { Role } from './access.ts'

/** How a member signs in: with the identity provider, an invitation, the operator's link or a session token. */
export const signInMethods = ['provider', 'invitation', 'link', 'token'] as const

export type SignInMethod = (typeof signInMethods)[number]

/** Neither invisible characters nor spaces around it: two names that look the same are the same. */
const namePattern =
  '^(?![\\s\\S]*(?:[\\u0000-\\u001F\\u007F-\\u009F\\u00AD\\u200B-\\u200F\\u2028-\\u202E\\u2060-\\u206F\\uFEFF]' +
  '|[\\uD800-\\uDBFF](?![\\uDC00-\\uDFFF])|(?<![\\uD800-\\uDBFF])[\\uDC00-\\uDFFF]))\\S(?:.*\\S)?$'

/** The name of a person. */
export const personName = (description: string) =>
  text(1, 100, {
    pattern: namePattern,
    mustBe: 'a name without spaces around it or invisible characters',
    description,
    examples: ['Ann'],
  })

/** How long a session lasts without a request, and how long at most. */
const briefly = { idleMs: 8 * hourMs, maxMs: dayMs }

/** Only an owner can let an invited member in again, so their sessions last longer than those of others. */
export const sessionTimes: Readonly<Record<SignInMethod, { idleMs: number; maxMs: number }>> = {
  ...{ provider: briefly, link: briefly, token: briefly },
  invitation: { idleMs: 7 * dayMs, maxMs: 30 * dayMs },
}

/** How long the operator's link to the dashboard works, an invitation, and a link for somebody who is a member. */
export const linkMs = 10 * minuteMs
export const invitationMs = 7 * dayMs
export const memberLinkMs = dayMs

/** Somebody who is signed in to the dashboard. */
export interface DashboardSession {
  /** `member_…`. */
  memberId: string
  role: Role
  /** The person's name as others read it, also in the audit log. */
  name: string
  /** False until the person has given their name, if the link that they came by has none. */
  isNamed: boolean
  /** Who says who the person is: the provider's address, or how else they sign in. */
  issuer: string
  createdAt: number
  /** To the minute. */
  lastSeenAt: number
  idleMs: number
  /** When the session ends, whatever is done until then. */
  endsAt: number
}

/** Whether somebody is still signed in. */
export const isStanding = (
  { lastSeenAt, idleMs, endsAt }: Pick<DashboardSession, 'lastSeenAt' | 'idleMs' | 'endsAt'>,
  now: number,
): boolean => now < endsAt && now - lastSeenAt < idleMs

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
