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
  /** To the minute; null for one that was never used. */
  lastUsedAt: number | null
  revokedAt: number | null
}

export type NewManagementToken = Pick<
  ManagementToken,
  'id' | 'name' | 'scopes' | 'createdAt' | 'expiresAt'
> & { sha256: string }

/** A line of the audit log as it is read, with its number: the newest has the greatest. */
export type AuditLine = AuditEntry & { line: number }

export interface AuditQuestion {
  /** Lines older than that of this number alone. */
  before?: number
  /** What one flow, or whatever else, went through. */
  subject?: string
  most: number
}

/** What access asks of storage. */
export interface AccessStore {
  /** All that were ever made, newest first. */
  tokens(orgRef: OrganisationRef): Promise<readonly ManagementToken[]>
  createToken(orgRef: OrganisationRef, token: NewManagementToken, audit: AuditEntry): Promise<void>
  /** Whether there was such a token that still worked. */
  revokeToken(orgRef: OrganisationRef, id: string, audit: AuditEntry): Promise<boolean>
  /** The newest lines first. */
  audit(orgRef: OrganisationRef, question: AuditQuestion): Promise<readonly AuditLine[]>
}
