import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { OrganisationRef } from '../../core/reference.ts'

/** An organisation that is linked to another. */
export interface LinkedOrganisation {
  ref: OrganisationRef
  /** `org_…`. */
  id: string
  slug: string
  name: string
  linkedAt: number
}

/** What an organisation is linked to. */
export interface Links {
  /** The one that its flows are promoted to; null where it tries none for another. */
  production: LinkedOrganisation | null
  /** Those that try flows for it, by slug. */
  staging: readonly LinkedOrganisation[]
}

/** The two that are linked, or were. */
export interface Pair {
  production: OrganisationRef
  staging: OrganisationRef
}

/** A line for the audit log of each. */
export type AuditOfBoth = Readonly<Record<keyof Pair, AuditEntry>>

/** Why two organisations cannot be linked. */
export type LinkFault = 'itself' | 'linked' | 'is staging' | 'has staging' | 'too many'

/** What linking organisations asks of storage. */
export interface EnvironmentStore {
  links(orgRef: OrganisationRef): Promise<Links>
  /** Null once they are linked; else nothing was done. */
  link(pair: Pair, at: number, audit: AuditOfBoth): Promise<LinkFault | null>
  /** False where they were not linked. */
  unlink(pair: Pair, audit: AuditOfBoth): Promise<boolean>
}

/** How many organisations may try flows for one. */
export const mostStaging = 10
