import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { Scope } from '../../core/organisation/management-token.ts'
import type { OrganisationRef } from '../../core/reference.ts'

/** A management token without its text, which only its holder has. */
export interface ManagementToken {
  /** `token_…`. */
  id: string
  name: string
  scopes: readonly Scope[]
  createdAt: number
  expiresAt: number
  /** To the minute; null if it was never used. */
  lastUsedAt: number | null
  revokedAt: number | null
}

export type NewManagementToken = Pick<
  ManagementToken,
  'id' | 'name' | 'scopes' | 'createdAt' | 'expiresAt'
> & { sha256: string }

/** A line of the audit log as it is read, with its number. The newest line has the greatest number. */
export type AuditLine = AuditEntry & { line: number }

export interface AuditQuestion {
  /** Only lines older than the one with this number. */
  before?: number
  /** Only lines about this subject, such as one flow. */
  subject?: string
  most: number
}

/** What access needs from storage. */
export interface AccessStore {
  /** All that were ever made, newest first. */
  tokens(orgRef: OrganisationRef): Promise<readonly ManagementToken[]>
  createToken(orgRef: OrganisationRef, token: NewManagementToken, audit: AuditEntry): Promise<void>
  /** False if there was no such token that still worked. */
  revokeToken(orgRef: OrganisationRef, id: string, audit: AuditEntry): Promise<boolean>
  /** The newest lines first. */
  audit(orgRef: OrganisationRef, question: AuditQuestion): Promise<readonly AuditLine[]>
}
