import type { Role } from '../../core/organisation/access.ts'
import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { SignInMethod } from '../../core/organisation/sessions.ts'
import type { OrganisationRef } from '../../core/reference.ts'

/** Who signs in. A member of the same issuer and subject is the same person. */
export interface NewcomerOrMember {
  issuer: string
  subject: string
  name: string
  isNamed: boolean
  method: SignInMethod
  /** Null if the member keeps theirs; somebody new is a viewer then. */
  role: Role | null
}

/** A link that signs one person in, once. Only its holder has its code, of which the hash is stored. */
export interface NewLink extends NewcomerOrMember {
  sha256: string
  id: string
  createdBy: string
  /** `member_…`, or null if no member created it. */
  createdById: string | null
  createdAt: number
  expiresAt: number
}

export interface NewSession {
  sha256: string
  isReadOnly: boolean
  sid: string | null
  createdAt: number
  lastSeenAt: number
  idleMs: number
  endsAt: number
}

/** Whose sessions end: one session, or all sessions of a person at the identity provider. */
export interface SignedOut {
  issuer: string
  /** At least one of the two is set. */
  subject: string | null
  sid: string | null
  /** Only sessions begun by then, so that a logout token that is sent again ends no newer ones. */
  begunBy: number
}

/** What signing in needs from storage. In an audit entry, it sets the name and the role of the member. */
export interface DashboardStore {
  createLink(orgRef: OrganisationRef, link: NewLink, audit: AuditEntry): Promise<void>
  /** Finds a link by the hash of its code; null if there is none or it was used. */
  link(
    sha256: string,
  ): Promise<{ organisation: string; method: SignInMethod; expiresAt: number } | null>
  /** Exchanges a link for a session, in one transaction; false if it was used meanwhile. */
  redeemLink(sha256: string, session: NewSession, audit: AuditEntry): Promise<boolean>
  beginSession(
    orgRef: OrganisationRef,
    who: NewcomerOrMember,
    session: NewSession,
    audit: AuditEntry,
  ): Promise<void>
  /** Names the member of a session who has no name yet. */
  nameMember(
    orgRef: OrganisationRef,
    memberId: string,
    name: string,
    audit: AuditEntry,
  ): Promise<'named' | 'named_before' | 'taken'>
  /** Ends one session, and on request all of the same person in the organisation if the person is known. */
  endSession(orgRef: OrganisationRef, sha256: string, isEverywhere: boolean): Promise<void>
  /** Returns how many ended, of all organisations: signing out at the provider signs out of all. */
  endSessionsOf(who: SignedOut): Promise<number>
}
