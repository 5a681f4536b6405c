import { type StaticDecode, type TSchema, Type } from '@sinclair/typebox'
import { maxTraits } from '../../core/event/traits.ts'
import { Theme } from '../../core/flow/theme.ts'
import type { AuditEntry } from '../../core/organisation/audit.ts'
import { maxInterruptions, maxRetentionDays } from '../../core/organisation/catalogue.ts'
import { buckets, defaultLimits, largestLimit } from '../../core/organisation/limits.ts'
import { type IdentityHour, identityModes } from '../../core/organisation/verified-identity.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { Instant, InstantOrNull, OneOf, OrganisationNames, OrNull } from '../../core/shapes.ts'
import type { AuditOfBoth, LinkProblem } from './environments.ts'

export const maxNameLength = 200

/** One field per bucket. */
export const ofBuckets = <T extends TSchema>(fieldOf: (defaultLimit: number) => T) =>
  Object.fromEntries(buckets.map(bucket => [bucket, fieldOf(defaultLimits[bucket])])) as Record<
    (typeof buckets)[number],
    T
  >

export const Limit = Type.Integer({ minimum: 1, maximum: largestLimit })

/**
 * What owners set for their organisation: the list that responses, changes, their validation, the audit log,
 * the columns of the store and `cairn org set` follow. Rules that a schema cannot state are in the service.
 */
export const settingFields = {
  // Longer than a name may be, because a name is trimmed before it is measured.
  name: Type.String({
    maxLength: 2 * maxNameLength,
    description: `Display name, up to ${maxNameLength} characters. The slug does not change.`,
    examples: ['Harbor Inc'],
  }),
  origins: Type.Array(Type.String(), {
    maxItems: 1_000,
    description: 'Origins that the snippet may run on. Replaces the list. Empty allows all.',
    examples: [['https://app.example.com']],
  }),
  retentionDays: OrNull(
    Type.Integer({ minimum: 1, maximum: maxRetentionDays }),
    "Days until raw events are deleted permanently. Null uses the server's setting.",
    30,
  ),
  honoursDoNotTrack: Type.Boolean({
    description:
      'Whether visitors whose browser sends Do Not Track or Global Privacy Control send no data.',
    examples: [true],
  }),
  throttle: OrNull(
    Type.Integer({ minimum: 1, maximum: maxInterruptions }),
    'Frequency cap: maximum tours and announcements per person in 24 hours, except those the page starts. Null sets no cap.',
    3,
  ),
  timezone: OrNull(
    Type.String({ maxLength: 64 }),
    "Default IANA time zone of the dashboard, alerts and the weekly report. Null uses the browser's zone, and UTC for alerts and the report.",
    'Europe/Berlin',
  ),
  traits: Type.Array(Type.String(), {
    maxItems: maxTraits,
    description: `Up to ${maxTraits} traits to store with each new run. Replaces the list. Do not list traits that identify a person.`,
    examples: [['plan']],
  }),
  // Its choices have no type of their own once decoded.
  theme: Type.Unsafe<Theme | null>(
    OrNull(Theme, 'Default appearance of flows. Null if not set.', {
      ...{ accent: '#0b7285', background: null, text: null, radius: 10 },
    }),
  ),
  identityMode: OneOf(identityModes, {
    description:
      'Identity verification: not checked, checked and counted, or required. Turning it on the first time creates a secret. `off` keeps the secret.',
  }),
}

const Overrides = Type.Object(
  ofBuckets(() => Type.Optional(Limit)),
  {
    description: 'Limits that the operator has set. All others have their default.',
    examples: [{ events: 1_200 }],
  },
)

/** An organisation with its settings. */
export const Settings = Type.Object(
  {
    ...OrganisationNames,
    limits: Type.Object(
      ofBuckets(limit => Type.Integer({ minimum: 1, maximum: largestLimit, examples: [limit] })),
      { description: 'Requests per minute.' },
    ),
    overrides: Overrides,
    ...settingFields,
    createdAt: Instant('When the organisation was created.'),
  },
  { title: 'Settings' },
)
export type Settings = StaticDecode<typeof Settings>

/** The part of it that can change. */
export type ChangedSettings = Partial<Pick<Settings, keyof typeof settingFields | 'overrides'>>

const worksUntil = InstantOrNull('When it stops working. Null for the current one.')

export const KeyText = Type.String({ examples: ['u1Qe7VbTn8Rk0cXw4sWq9xLm2KpZf6Hd'] })
export const SecretText = Type.String({ examples: ['…'] })

export const IssuedKey = Type.Object({
  key: KeyText,
  createdAt: Instant('When the key was created.'),
  worksUntil,
})
export type IssuedKey = StaticDecode<typeof IssuedKey>

/** A secret for hashes of user ids. */
export const IdentitySecret = Type.Object({
  secret: SecretText,
  createdAt: Instant('When the secret was created.'),
  worksUntil,
})
export type IdentitySecret = StaticDecode<typeof IdentitySecret>

/** An organisation as it was read to decide a change. */
export interface OrganisationRead {
  /** Differs after each change of the organisation. */
  revision: number
  organisation: Settings
  /** The valid ones, current one first. */
  keys: IssuedKey[]
  /** The valid ones, current one first. */
  secrets: IdentitySecret[]
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
  settings?: ChangedSettings
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
  /** Its `org_…`. */
  production: string
  audit: AuditOfBoth
}

/** Which organisations to list: those with slugs after this one, or only the one with this id or slug. */
export interface OrganisationQuery {
  after?: string
  named?: string
}

/** What organisations need from storage. */
export interface OrganisationStore {
  /** How many organisations there is room for. */
  readonly most: number
  /** By slug, no more than `most`; and how many there are in all. */
  list(
    query: OrganisationQuery,
    most: number,
  ): Promise<{ organisations: Settings[]; total: number }>
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
  identityHours(orgRef: OrganisationRef, now: number): Promise<IdentityHour[]>
}
