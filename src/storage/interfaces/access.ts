import { type StaticDecode, Type } from '@sinclair/typebox'
import { scopes } from '../../core/organisation/access.ts'
import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { Instant, InstantOrNull, OneOf } from '../../core/shapes.ts'

export const Scopes = Type.Array(OneOf(scopes), {
  description: 'What it may do.',
  examples: [['flows:read', 'flows:write', 'flows:publish']],
})

/** A management token without its text, which only its holder has. */
export const ManagementToken = Type.Object(
  {
    id: Type.String({ examples: ['token_4sWq9xLm2VbTn8Rk0c'] }),
    name: Type.String({ examples: ['CI'] }),
    scopes: Scopes,
    createdAt: Instant('When it was created.'),
    expiresAt: Instant('When it stops working.', '2027-11-20T09:30:00.000Z'),
    lastUsedAt: InstantOrNull('When it was last used, to the minute. Null if never.'),
    revokedAt: InstantOrNull('When it was revoked. Null while it works.'),
  },
  { title: 'ManagementToken' },
)
export type ManagementToken = StaticDecode<typeof ManagementToken>

export type NewManagementToken = Pick<
  ManagementToken,
  'id' | 'name' | 'scopes' | 'createdAt' | 'expiresAt'
> & {
  sha256: string
  /** The member who created it, if a member did. */
  createdById?: string | null
}

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
  tokens(orgRef: OrganisationRef): Promise<ManagementToken[]>
  createToken(orgRef: OrganisationRef, token: NewManagementToken, audit: AuditEntry): Promise<void>
  /** False if there was no such token that still worked. */
  revokeToken(orgRef: OrganisationRef, id: string, audit: AuditEntry): Promise<boolean>
  /** The newest lines first. */
  audit(orgRef: OrganisationRef, query: AuditQuestion): Promise<readonly AuditLine[]>
}
