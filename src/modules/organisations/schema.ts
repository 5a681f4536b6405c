import { type Static, Type } from '@sinclair/typebox'
import { maxTraits } from '../../core/event/traits.ts'
import { Theme } from '../../core/flow/theme.ts'
import { closed } from '../../core/flow/values.ts'
import { buckets, defaultLimits, largestLimit } from '../../core/organisation/buckets.ts'
import { maxInterruptions, maxRetentionDays } from '../../core/organisation/catalogue.ts'
import { identityModes } from '../../core/organisation/verified-identity.ts'
import {
  Count,
  Instant,
  InstantOrNull,
  OneOf,
  OrganisationNames,
  OrNull,
  Text,
} from '../../core/shapes.ts'
import { maxSlugLength } from '../../core/text/slug.ts'
import { maxGraceHours } from '../../core/time/durations.ts'
import { maxNameLength } from './rules.ts'

/** One field per bucket. */
const ofBuckets = <T>(fieldOf: (limit: number) => T) =>
  Object.fromEntries(buckets.map(bucket => [bucket, fieldOf(defaultLimits[bucket])])) as Record<
    (typeof buckets)[number],
    T
  >

const limit = { minimum: 1, maximum: largestLimit }

const KeyText = Type.String({ examples: ['u1Qe7VbTn8Rk0cXw4sWq9xLm2KpZf6Hd'] })

/**
 * An organisation's theme. Fields that are left out are unset, because only the snippet's own look lies
 * below it.
 */
const GivenTheme = Type.Partial(Theme)
export type GivenTheme = Static<typeof GivenTheme>

const exampleTheme = { accent: '#0b7285', background: null, text: null, radius: 10 }

/** The service validates names and slugs, because its messages are better than a schema's. */
const Name = Type.String({
  maxLength: 2 * maxNameLength,
  description: `Display name, up to ${maxNameLength} characters. The slug does not change.`,
  examples: ['Harbor Inc'],
})

const SettingsFields = {
  ...OrganisationNames,
  limits: Type.Object(
    ofBuckets(usual => Type.Integer({ ...limit, examples: [usual] })),
    { description: 'Requests a minute, by bucket.' },
  ),
  overrides: Type.Object(
    ofBuckets(() => Type.Optional(Type.Integer(limit))),
    {
      description: 'The limits that the operator set; all others are the defaults.',
      examples: [{ events: 1_200 }],
    },
  ),
  origins: Type.Array(Type.String(), {
    description: 'Origins that the snippet may run on. Empty allows all.',
    examples: [['https://app.example.com']],
  }),
  retentionDays: OrNull(
    Type.Integer(),
    "Days for which raw events are accepted and kept. Null uses the server's setting.",
    30,
  ),
  honoursDoNotTrack: Type.Boolean({
    description: 'Whether browsers that ask not to be tracked are left out.',
    examples: [true],
  }),
  throttle: OrNull(
    Type.Integer(),
    'Frequency cap: maximum tours and announcements per person in 24 hours. Null sets no cap.',
    3,
  ),
  traits: Type.Array(Type.String(), {
    description:
      'Traits of people that are stored and used to segment results. All other traits stay in the browser.',
    examples: [['plan']],
  }),
  identityMode: OneOf(identityModes, {
    description: 'Identity verification: not checked, checked and counted, or required.',
  }),
  timezone: OrNull(
    Type.String(),
    "Default IANA time zone of the dashboard, alerts and the weekly report. Null uses the browser's zone, and UTC for alerts and the report.",
    'Europe/Berlin',
  ),
  theme: OrNull(Theme, 'Default appearance of flows. Null if not set.', exampleTheme),
  createdAt: Instant('When the organisation was made.'),
}

export const Settings = Type.Object(SettingsFields, { title: 'Settings' })
export type Settings = Static<typeof Settings>

export const OrganisationList = Type.Object(
  {
    organisations: Type.Array(Settings),
    total: Count('How many there are in all.', 1),
    next: OrNull(
      Type.String(),
      'Send it as `after` for those that follow; null where none do.',
      null,
    ),
  },
  { title: 'OrganisationList' },
)

export type OrganisationList = Static<typeof OrganisationList>

export const OrganisationQuery = Type.Object({
  after: Type.Optional(
    Type.String({ maxLength: maxSlugLength, description: 'Those of later slugs than this.' }),
  ),
  named: Type.Optional(Type.String({ description: 'The one of this id or slug alone.' })),
})

export const NewOrganisationBody = closed({
  name: Name,
  slug: Type.Optional(
    Text(
      `a-z, 0-9 and "-" between them, at most ${maxSlugLength} characters; made from the name unless given.`,
      'harbor-inc',
    ),
  ),
  stagingOf: Type.Optional(
    Text(
      'The id or slug of the organisation that it tries flows for: the two are linked at once.',
      'harbor-inc',
    ),
  ),
})

export const CreatedOrganisation = Type.Object(
  { ...OrganisationNames, snippetKey: KeyText },
  { title: 'CreatedOrganisation' },
)

export const SettingsBody = closed({
  name: Type.Optional(Name),
  limits: Type.Optional(
    closed(
      ofBuckets(() => Type.Optional(Type.Union([Type.Integer(limit), Type.Null()]))),
      {
        description:
          'Requests per minute. Only the operator can change them. Null restores the default.',
        examples: [{ events: 1_200, export: null }],
      },
    ),
  ),
  origins: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 1_000,
      description: 'Origins that the snippet may run on. Replaces the list. Empty allows all.',
      examples: [['https://app.example.com']],
    }),
  ),
  retentionDays: Type.Optional(
    OrNull(
      Type.Integer({ minimum: 1, maximum: maxRetentionDays }),
      "Days until raw events are deleted permanently. Null uses the server's setting.",
      30,
    ),
  ),
  honoursDoNotTrack: Type.Optional(SettingsFields.honoursDoNotTrack),
  throttle: Type.Optional(
    OrNull(
      Type.Integer({ minimum: 1, maximum: maxInterruptions }),
      'Frequency cap: maximum tours and announcements per person in 24 hours, except those the page starts. Null sets no cap.',
      3,
    ),
  ),
  timezone: Type.Optional(
    OrNull(
      Type.String({ maxLength: 64 }),
      "Default IANA time zone of the dashboard, alerts and the weekly report. Null uses the browser's zone, and UTC for alerts and the report.",
      'Europe/Berlin',
    ),
  ),
  traits: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: maxTraits,
      description: `Up to ${maxTraits} traits to store with each new run. Replaces the list. Do not list traits that identify a person.`,
      examples: [['plan']],
    }),
  ),
  theme: Type.Optional(
    OrNull(GivenTheme, 'Default appearance of flows. Replaces the whole theme. Null removes it.', {
      accent: '#0b7285',
      radius: 10,
      font: { size: 16 },
    }),
  ),
  identityMode: Type.Optional(
    OneOf(identityModes, {
      description:
        'Identity verification. Turning it on the first time creates a secret. `off` keeps the secret.',
    }),
  ),
})

const worksUntil = InstantOrNull('When it stops working; null for the current one.')

export const KeyList = Type.Object(
  {
    keys: Type.Array(
      Type.Object({ key: KeyText, createdAt: Instant('When it was made.'), worksUntil }),
    ),
  },
  { title: 'KeyList' },
)

export const RotateBody = closed({
  graceHours: Type.Integer({
    minimum: 0,
    maximum: maxGraceHours,
    description: 'How long what was current still works; 0 ends all of before at once.',
    examples: [24],
  }),
})

const previousUntil = Instant('Until when what was current works.')

export const RotatedKey = Type.Object(
  { snippetKey: KeyText, previousUntil },
  { title: 'RotatedKey' },
)

export const IdentityQuery = Type.Object({
  secrets: Type.Optional(
    Type.Literal('shown', { mustBe: 'shown', description: 'Tell the secrets as well.' }),
  ),
})

const Hashes = {
  valid: Count('With the right hash.', 120),
  outdated: Count('With that of the secret before, which still works.', 0),
  invalid: Count('With a wrong one.', 0),
  missing: Count('With none.', 3),
}

const SecretText = Type.String({ examples: ['…'] })

export const IdentityAnswer = Type.Object(
  {
    mode: SettingsFields.identityMode,
    secrets: Type.Array(
      Type.Object({
        createdAt: Instant('When it was made.'),
        worksUntil,
        secret: Type.Optional(SecretText),
      }),
      { description: 'Those that work, the current one first.' },
    ),
    last24h: Type.Object(Hashes, { description: 'Calls and events that named a user.' }),
    hours: Type.Array(Type.Object({ at: Instant('When the hour began.'), ...Hashes }), {
      description: 'The same by hour; hours without any are left out.',
    }),
  },
  { title: 'Identity' },
)

export const RotatedSecret = Type.Object(
  { secret: SecretText, previousUntil },
  { title: 'RotatedSecret' },
)
export type IdentityAnswer = Static<typeof IdentityAnswer>
export type KeyList = Static<typeof KeyList>
export type RotatedKey = Static<typeof RotatedKey>
export type RotatedSecret = Static<typeof RotatedSecret>
export type SettingsBody = Static<typeof SettingsBody>
