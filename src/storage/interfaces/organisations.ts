import type { Theme } from '../../core/flow/theme.ts'
import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { Bucket } from '../../core/organisation/buckets.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import type { IdentityHour, IdentityMode } from '../../core/organisation/verified-identity.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import type { AuditOfBoth, LinkProblem } from './environments.ts'

/** What an organisation's owners, and the operator, have set. */
export interface OrganisationSettings {
  /** What people see; programs go by the id or the slug, which stay. */
  name: string
  /** The limits that the operator set; all others are the defaults. */
  overrides: Partial<Record<Bucket, number>>
  /** Empty if the snippet may run anywhere. */
  origins: readonly string[]
  /** For how many days raw events are accepted and kept; null to use the server's setting. */
  retentionDays: number | null
  /** Whether browsers that ask not to be tracked are respected. */
  honoursDoNotTrack: boolean
  /** How many times a person is interrupted in 24 hours at most; null for no such limit. */
  throttle: number | null
  /** Names of the traits that runs are counted by. Cairn never receives other traits. */
  traits: readonly string[]
  /** Whether hashes of user ids are checked. */
  identityMode: IdentityMode
  /** The time zone of the dashboard's days if its address names none; null for the browser's. */
  timezone: string | null
  /** How its flows look unless they say otherwise; null if nothing is set. */
  theme: Theme | null
}

export interface OrganisationRecord
  extends OrganisationSettings,
    Pick<Organisation, 'ref' | 'id' | 'slug' | 'limits'> {
  createdAt: number
}

/**
 * Of keys and secrets that are rotated. `retiredAt` is null for the current one, otherwise when it stops
 * working.
 */
interface Rotating {
  createdAt: number
  retiredAt: number | null
}

/** A snippet key. */
export type IssuedKey = Rotating & { key: string }

/** A secret for hashes of user ids. */
export type IdentitySecret = Rotating & { secret: string }

/** An organisation as it was read to decide a change. */
export interface OrganisationRead {
  /** Differs after each change of the organisation. */
  revision: number
  organisation: OrganisationRecord
  /** Those that work, the current one first. */
  keys: readonly IssuedKey[]
  /** Those that work, the current one first. */
  secrets: readonly IdentitySecret[]
}

/** A new current key or secret. Older ones that would work for longer end at `othersEndAt`. */
export interface Replacement {
  text: string
  createdAt: number
  othersEndAt: number
}

export interface OrganisationChange {
  /** The revision that the change was decided on. */
  revision: number
  settings?: Partial<OrganisationSettings>
  snippetKey?: Replacement
  /** Secrets that no longer work when it is made are deleted. */
  identitySecret?: Replacement
  audit: readonly AuditEntry[]
}

export interface NewOrganisation {
  /** `org_…`. */
  id: string
  slug: string
  name: string
  /** Its first snippet key. */
  snippetKey: string
  createdAt: number
}

/** The organisation that a new one tries flows for. */
export interface NewStaging {
  production: OrganisationRef
  audit: AuditOfBoth
}

/** Which organisations to list: those with slugs after this one, or only the one with this id or slug. */
export interface OrganisationQuestion {
  after?: string
  named?: string
}

/** What organisations need from storage. */
export interface OrganisationStore {
  /** How many organisations there is room for. */
  readonly most: number
  /** By slug, no more than `most`; and how many there are in all. */
  list(
    question: OrganisationQuestion,
    most: number,
  ): Promise<{ organisations: readonly OrganisationRecord[]; total: number }>
  /** Adds an organisation. Does nothing if its slug is taken or there is no room. */
  add(
    organisation: NewOrganisation,
    audit: AuditEntry,
    staging?: NewStaging,
  ): Promise<'added' | 'slug taken' | 'full' | LinkProblem>
  /** @param now keys and secrets that have stopped working by then are left out */
  read(orgRef: OrganisationRef, now: number): Promise<OrganisationRead>
  /**
   * Makes a change in one transaction.
   *
   * @returns false if the organisation has changed since that revision; then nothing was done
   */
  change(orgRef: OrganisationRef, change: OrganisationChange): Promise<boolean>
  /** Counts of user hashes in each of the last 24 hours that had any, oldest first. */
  identityHours(orgRef: OrganisationRef, now: number): Promise<readonly IdentityHour[]>
}
