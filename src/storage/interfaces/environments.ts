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
  /** The organisation that its flows are promoted to; null if it tries flows for no other. */
  production: LinkedOrganisation | null
  /** The organisations that try flows for it, by slug. */
  staging: readonly LinkedOrganisation[]
}

/** Two organisations that are or were linked. */
export interface Pair {
  production: OrganisationRef
  staging: OrganisationRef
}

/** A line for the audit log of each. */
export type AuditOfBoth = Readonly<Record<keyof Pair, AuditEntry>>

/** Why two organisations cannot be linked. */
export type LinkProblem = 'itself' | 'linked' | 'is staging' | 'has staging' | 'too many'

/** What linking organisations needs from storage. */
export interface EnvironmentStore {
  links(orgRef: OrganisationRef): Promise<Links>
  /** Null if they are linked now; otherwise nothing was done. */
  link(pair: Pair, at: number, audit: AuditOfBoth): Promise<LinkProblem | null>
  /** False if they were not linked. */
  unlink(pair: Pair, audit: AuditOfBoth): Promise<boolean>
}

/** How many organisations may try flows for one. */
export const maxStaging = 10
