import type { Theme } from '../../core/flow/theme.ts'
import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { Bucket } from '../../core/organisation/buckets.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import type { IdentityHour, IdentityMode } from '../../core/organisation/verified-identity.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import type { AuditOfBoth, LinkFault } from '../environments/index.ts'

/** What an organisation's owners set, and the operator. */
export interface OrganisationSettings {
  /** The limits that the operator set; all others are the defaults. */
  overrides: Partial<Record<Bucket, number>>
  /** Empty where the snippet may run anywhere. */
  origins: readonly string[]
  /** For how many days raw events are accepted and kept; null where the server's setting holds. */
  retentionDays: number | null
  /** Whether browsers that ask not to be tracked are heeded. */
  honoursDoNotTrack: boolean
  /** How many times in 24 hours a person is interrupted at most; null for as often as flows are due. */
  throttle: number | null
  /** Names of the traits that runs are counted by; of others Cairn is never told. */
  traits: readonly string[]
  /** Whether hashes of user ids are looked at. */
  identityMode: IdentityMode
  /** The zone of the dashboard's days where its address names none; null for the browser's. */
  timezone: string | null
  /** How its flows look unless they say otherwise; null where nothing is set. */
  theme: Theme | null
}

export interface OrganisationRecord
  extends OrganisationSettings,
    Pick<Organisation, 'ref' | 'id' | 'slug' | 'name' | 'limits'> {
  createdAt: number
}

/** Of what is rotated; `retiredAt` is null for the current one, else the moment it stops working. */
interface Rotating {
  createdAt: number
  retiredAt: number | null
}

/** A snippet key. */
export type IssuedKey = Rotating & { key: string }

/** A secret for hashes of user ids. */
export type IdentitySecret = Rotating & { secret: string }

/** An organisation as a change of it is decided over. */
export interface OrganisationRead {
  /** Another after each change of the organisation. */
  revision: number
  organisation: OrganisationRecord
  /** Those that work, the current one first. */
  keys: readonly IssuedKey[]
  /** Those that work, the current one first. */
  secrets: readonly IdentitySecret[]
}

/** A new current key or secret. Those of before that would work for longer end at `othersEndAt`. */
export interface Replacement {
  text: string
  createdAt: number
  othersEndAt: number
}

export interface OrganisationChange {
  /** That over which it was decided. */
  revision: number
  settings?: Partial<OrganisationSettings>
  snippetKey?: Replacement
  /** Secrets that work no more when it is made are deleted. */
  identitySecret?: Replacement
  audit: readonly AuditEntry[]
}

export interface NewOrganisation {
  /** `org_…`. */
  id: string
  slug: string
  name: string
  /** Its first. */
  snippetKey: string
  createdAt: number
}

/** For which other organisation a new one tries flows. */
export interface NewStaging {
  production: OrganisationRef
  audit: AuditOfBoth
}

/** Which organisations are wanted: those of later slugs than one, or the one of an id or slug. */
export interface OrganisationQuestion {
  after?: string
  named?: string
}

/** What organisations ask of storage. */
export interface OrganisationStore {
  /** How many it has room for. */
  readonly most: number
  /** By slug, at most so many; and how many there are in all. */
  list(
    question: OrganisationQuestion,
    most: number,
  ): Promise<{ organisations: readonly OrganisationRecord[]; total: number }>
  /** Adds one; where its slug is taken or there is no room, nothing is done. */
  add(
    organisation: NewOrganisation,
    audit: AuditEntry,
    staging?: NewStaging,
  ): Promise<'added' | 'slug taken' | 'full' | LinkFault>
  /** @param now keys and secrets that have stopped working by then are left out */
  read(orgRef: OrganisationRef, now: number): Promise<OrganisationRead>
  /**
   * Makes a change in one transaction.
   *
   * @returns whether the organisation was still the one it was decided over; else nothing was done
   */
  change(orgRef: OrganisationRef, change: OrganisationChange): Promise<boolean>
  /** What was counted of user hashes in each of the last 24 hours that had any, oldest first. */
  identityHours(orgRef: OrganisationRef, now: number): Promise<readonly IdentityHour[]>
}
