import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { DashboardSession } from '../../core/organisation/dashboard-session.ts'
import type { Role } from '../../core/organisation/role.ts'
import type { OrganisationRef } from '../../core/reference.ts'

/** A link that lets somebody in, once; its code only its holder has. */
export interface DashboardLink {
  role: Role
  /** Whom it lets in, as the audit log will say. */
  name: string
  expiresAt: number
}

export type NewLink = DashboardLink & { sha256: string }
export type NewSession = DashboardSession & { sha256: string }

/** Whose sessions end: one, or all of somebody at the identity provider. */
export interface SignedOut {
  issuer: string
  /** One of the two at least. */
  subject: string | null
  sid: string | null
  /** Only those that were begun by then: a logout token that is sent again ends nothing newer. */
  begunBy: number
}

/** What signing in asks of storage. */
export interface DashboardStore {
  createLink(orgRef: OrganisationRef, link: NewLink, audit: AuditEntry): Promise<void>
  /** By the hash of its code; null where there is none or it was used. */
  link(sha256: string): Promise<(DashboardLink & { organisation: string }) | null>
  /** Uses a link up for a session, in one transaction; false where somebody was quicker. */
  redeemLink(sha256: string, session: NewSession, audit: AuditEntry): Promise<boolean>
  beginSession(orgRef: OrganisationRef, session: NewSession, audit: AuditEntry): Promise<void>
  /** Ends one session; and all of the same person in the organisation, where they are known. */
  endSession(orgRef: OrganisationRef, sha256: string, isEverywhere: boolean): Promise<void>
  /** How many ended, of all organisations: who signs out at the provider signs out of all. */
  endSessionsOf(who: SignedOut): Promise<number>
}

/** Who an identity provider says that somebody is. */
export interface Identity {
  organisation: string
  role: Role
  name: string
  subject: string
  issuer: string
  sid: string | null
}

/** Why somebody could not be signed in, as the address of the page says it. */
const signInProblems = [
  /** The provider does not answer, or not as one does. */
  'provider_unavailable',
  /** It was begun too long ago or in another browser, or it is finished already. */
  'expired',
  /** The provider said no, or the person did. */
  'refused',
  /** What came back is not what was asked for. */
  'mismatch',
  /** The provider names no organisation, or one that is not here. */
  'no_organisation',
  'unknown_organisation',
] as const
export type SignInProblem = (typeof signInProblems)[number]

/** Somebody could not be signed in; the message is for the log, and holds no secret. */
export class SignInFailure extends Error {
  override readonly name = 'SignInFailure'

  constructor(
    readonly problem: SignInProblem,
    message: string,
  ) {
    super(message)
  }
}

/** An OpenID provider by which people sign in. */
export interface SignInProvider {
  readonly issuer: string
  /** Where the browser goes, and what it keeps meanwhile. @throws SignInFailure */
  begin(to: string): Promise<{ location: string; transaction: string }>
  /** Who has come back, and where they wanted to go. @throws SignInFailure */
  finish(query: string, transaction: string | null): Promise<{ identity: Identity; to: string }>
  /** Where the browser goes to be signed out there too; null where the provider has no such place. */
  signOutAddress(): Promise<string | null>
  /** Whom a logout token is about. @throws for one that is not good */
  signedOutBy(logoutToken: string): Promise<SignedOut>
}
