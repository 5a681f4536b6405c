import type { Role } from '../../core/organisation/access.ts'
import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { DashboardSession } from '../../core/organisation/sessions.ts'
import type { OrganisationRef } from '../../core/reference.ts'

/** A link that lets somebody in once. Only its holder has its code. */
export interface DashboardLink {
  role: Role
  /** Whom it lets in, as the audit log shows it. */
  name: string
  expiresAt: number
}

export type NewLink = DashboardLink & { sha256: string }
export type NewSession = DashboardSession & { sha256: string }

/** Whose sessions end: one session, or all sessions of a person at the identity provider. */
export interface SignedOut {
  issuer: string
  /** At least one of the two is set. */
  subject: string | null
  sid: string | null
  /** Only sessions begun by then, so that a logout token that is sent again ends no newer ones. */
  begunBy: number
}

/** What signing in needs from storage. */
export interface DashboardStore {
  createLink(orgRef: OrganisationRef, link: NewLink, audit: AuditEntry): Promise<void>
  /** Finds a link by the hash of its code; null if there is none or it was used. */
  link(sha256: string): Promise<(DashboardLink & { organisation: string }) | null>
  /** Exchanges a link for a session, in one transaction; false if it was used meanwhile. */
  redeemLink(sha256: string, session: NewSession, audit: AuditEntry): Promise<boolean>
  beginSession(orgRef: OrganisationRef, session: NewSession, audit: AuditEntry): Promise<void>
  /** Ends one session, and on request all of the same person in the organisation if the person is known. */
  endSession(orgRef: OrganisationRef, sha256: string, isEverywhere: boolean): Promise<void>
  /** Returns how many ended, of all organisations: signing out at the provider signs out of all. */
  endSessionsOf(who: SignedOut): Promise<number>
}

/** Who somebody is, according to an identity provider. */
export interface Identity {
  organisation: string
  role: Role
  name: string
  subject: string
  issuer: string
  sid: string | null
}

/** Why somebody could not be signed in, as it appears in the page's address. */
const signInProblems = [
  /** The provider does not answer, or does not answer like a provider. */
  'provider_unavailable',
  /** The sign-in was begun too long ago or in another browser, or is already finished. */
  'expired',
  /** The provider or the person refused. */
  'refused',
  /** What came back does not match what was asked for. */
  'mismatch',
  /** The provider names no organisation, or one that does not exist here. */
  'no_organisation',
  'unknown_organisation',
] as const
export type SignInProblem = (typeof signInProblems)[number]

/** Somebody could not be signed in. The message is for the log and contains no secret. */
export class SignInFailure extends Error {
  override readonly name = 'SignInFailure'

  constructor(
    readonly problem: SignInProblem,
    message: string,
  ) {
    super(message)
  }
}

/** An OpenID provider with which people sign in. */
export interface SignInProvider {
  readonly issuer: string
  /** Where to send the browser, and what it keeps until it returns. @throws SignInFailure */
  begin(to: string): Promise<{ location: string; transaction: string }>
  /** Who has come back, and where they wanted to go. @throws SignInFailure */
  finish(query: string, transaction: string | null): Promise<{ identity: Identity; to: string }>
  /** Where to send the browser to sign out there too; null if the provider has no such address. */
  signOutAddress(): Promise<string | null>
  /** Whose sessions a logout token ends. @throws if the token is not valid */
  signedOutBy(logoutToken: string): Promise<SignedOut>
}
