import { type StaticDecode, Type } from '@sinclair/typebox'
import { roles } from '../../core/organisation/access.ts'
import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { DashboardSession } from '../../core/organisation/sessions.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { Instant, OneOf, Text } from '../../core/shapes.ts'

/** A link that signs one person in, once. Only its holder has its code. */
export const DashboardLink = Type.Object({
  role: OneOf(roles, { description: 'Role of the person.', examples: ['viewer'] }),
  name: Text('Name of the person, as the audit log shows it.', 'Ann'),
  expiresAt: Instant('When the link stops working.'),
})
export type DashboardLink = StaticDecode<typeof DashboardLink>

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
