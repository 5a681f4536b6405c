import { type StaticDecode, Type } from '@sinclair/typebox'
import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { Instant, OrganisationNames, OrNull } from '../../core/shapes.ts'

export const LinkedOrganisation = Type.Object(
  { ...OrganisationNames, linkedAt: Instant('When they were linked.') },
  { title: 'LinkedOrganisation' },
)

/** What an organisation is linked to. */
export const Environments = Type.Object(
  {
    production: OrNull(
      LinkedOrganisation,
      'The organisation that flows of this one are promoted to.',
    ),
    staging: Type.Array(LinkedOrganisation, {
      description: 'The organisations from which flows are promoted to this one, by slug.',
    }),
  },
  { title: 'Environments' },
)
export type Environments = StaticDecode<typeof Environments>

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
  links(orgRef: OrganisationRef): Promise<Environments>
  /** Null if they are linked now; otherwise nothing was done. */
  link(pair: Pair, at: number, audit: AuditOfBoth): Promise<LinkProblem | null>
  /** False if they were not linked. */
  unlink(pair: Pair, audit: AuditOfBoth): Promise<boolean>
}

/** How many staging organisations one organisation may have. */
export const maxStaging = 10
