import { type Static, Type } from '@sinclair/typebox'
import { mostTraits } from '../../core/event/traits.ts'
import { Theme } from '../../core/flow/theme.ts'
import { closed } from '../../core/flow/values.ts'
import { buckets, defaultLimits, largestLimit } from '../../core/organisation/buckets.ts'
import { longestRetentionDays, mostInterruptions } from '../../core/organisation/catalogue.ts'
import { identityModes } from '../../core/organisation/verified-identity.ts'
import { longestSlug } from '../../core/text/slug.ts'
import { longestGraceHours } from '../../core/time/durations.ts'
import {
  Count,
  Instant,
  InstantOrNull,
  OneOf,
  OrganisationNames,
  OrNull,
  Text,
} from '../../http/shapes.ts'
import { longestName } from './rules.ts'

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
  maxLength: 2 * longestName,
  description: `What people see: at most ${longestName} characters. The slug stays as it is.`,
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
    description: 'Where the snippet may run; empty where it may anywhere.',
    examples: [['https://app.example.com']],
  }),
  retentionDays: OrNull(
    Type.Integer(),
    "For how many days raw events are accepted and kept; null for as long as the server's setting says.",
    30,
  ),
  honoursDoNotTrack: Type.Boolean({
    description: "Whether browsers' requests not to be tracked are honoured.",
    examples: [true],
  }),
  throttle: OrNull(
    Type.Integer(),
    'How many tours and announcements begin for one person in 24 hours at most; null for as many as are due.',
    3,
  ),
  traits: Type.Array(Type.String(), {
    description:
      'Traits of people that runs are counted by; what pages say of others never leaves the browser.',
    examples: [['plan']],
  }),
  identityMode: OneOf(identityModes, {
    description: 'Whether hashes of user ids are looked at, and required.',
  }),
  timezone: OrNull(
    Type.String(),
    "The IANA zone whose days the dashboard shows where its address names none; null for the browser's. Alerts and the weekly report go by it too, by UTC where it is null.",
    'Europe/Berlin',
  ),
  theme: OrNull(
    Theme,
    'How flows look unless they say otherwise; null where nothing is set.',
    exampleTheme,
  ),
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
    Type.String({ maxLength: longestSlug, description: 'Those of later slugs than this.' }),
  ),
  named: Type.Optional(Type.String({ description: 'The one of this id or slug alone.' })),
})

export const NewOrganisationBody = closed({
  name: Name,
  slug: Type.Optional(
    Text(
      `a-z, 0-9 and "-" between them, at most ${longestSlug} characters; made from the name unless given.`,
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
        description: 'By the operator alone: requests a minute; null for the default.',
        examples: [{ events: 1_200, export: null }],
      },
    ),
  ),
  origins: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 1_000,
      description: 'All origins of the list, in place of those before; none for any origin.',
      examples: [['https://app.example.com']],
    }),
  ),
  retentionDays: Type.Optional(
    OrNull(
      Type.Integer({ minimum: 1, maximum: longestRetentionDays }),
      "Raw events received earlier are deleted, for good; null for as long as the server's setting says.",
      30,
    ),
  ),
  honoursDoNotTrack: Type.Optional(SettingsFields.honoursDoNotTrack),
  throttle: Type.Optional(
    OrNull(
      Type.Integer({ minimum: 1, maximum: mostInterruptions }),
      'How many tours and announcements begin for one person in 24 hours at most, but for those that the page starts; null for as many as are due.',
      3,
    ),
  ),
  timezone: Type.Optional(
    OrNull(
      Type.String({ maxLength: 64 }),
      "The IANA zone whose days the dashboard shows where its address names none; null for the browser's. Alerts and the weekly report go by it too, by UTC where it is null.",
      'Europe/Berlin',
    ),
  ),
  traits: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: mostTraits,
      description: `All traits of the list, in place of those before, at most ${mostTraits}. Of each person who starts a flow Cairn keeps the values from then on: list none that say who somebody is.`,
      examples: [['plan']],
    }),
  ),
  theme: Type.Optional(
    OrNull(
      GivenTheme,
      'How flows look unless they say otherwise, whole, in place of what was set before; null for nothing.',
      { accent: '#0b7285', radius: 10, font: { size: 16 } },
    ),
  ),
  identityMode: Type.Optional(
    OneOf(identityModes, {
      description: 'Whoever first looks at hashes gets a secret; `off` keeps what there is.',
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
    maximum: longestGraceHours,
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
