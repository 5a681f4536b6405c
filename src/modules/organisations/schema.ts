import { type Static, Type } from '@sinclair/typebox'
import { Theme } from '../../core/flow/theme.ts'
import { closed } from '../../core/flow/values.ts'
import { Count, Instant, OneOf, OrganisationNames, OrNull, Text } from '../../core/shapes.ts'
import { maxSlugLength } from '../../core/text/slug.ts'
import { maxGraceHours } from '../../core/time/durations.ts'
import {
  IdentitySecret,
  IssuedKey,
  KeyText,
  Limit,
  ofBuckets,
  SecretText,
  Settings as StoredSettings,
  settingFields,
} from '../../storage/interfaces/organisations.ts'

export const Settings = StoredSettings
export type Settings = Static<typeof Settings>

export const OrganisationList = Type.Object(
  {
    organisations: Type.Array(Settings),
    total: Count('Number of organisations in all.', 1),
    next: OrNull(
      Type.String(),
      'Send it as `after` to get the next page. Null on the last page.',
      null,
    ),
  },
  { title: 'OrganisationList' },
)
export type OrganisationList = Static<typeof OrganisationList>

export const OrganisationQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      maxLength: maxSlugLength,
      description: 'Return organisations whose slug is after this one.',
    }),
  ),
  named: Type.Optional(
    Type.String({ description: 'Return only the organisation with this ID or slug.' }),
  ),
})

export const NewOrganisationBody = closed({
  name: settingFields.name,
  slug: Type.Optional(
    Text(
      `Short name of a-z, 0-9 and "-", up to ${maxSlugLength} characters. Default: made from the name.`,
      'harbor-inc',
    ),
  ),
  stagingOf: Type.Optional(
    Text(
      'ID or slug of the production organisation. The new one becomes its staging organisation.',
      'harbor-inc',
    ),
  ),
})

export const CreatedOrganisation = Type.Object(
  { ...OrganisationNames, snippetKey: KeyText },
  { title: 'CreatedOrganisation' },
)

/** Fields that are left out are unset, because only the snippet's own appearance lies below the theme. */
const RequestedTheme = Type.Partial(Theme)
export type RequestedTheme = Static<typeof RequestedTheme>

const { name, ...others } = Type.Partial(Type.Object(settingFields)).properties

export const SettingsBody = closed({
  name,
  limits: Type.Optional(
    closed(
      ofBuckets(() => Type.Optional(Type.Union([Limit, Type.Null()]))),
      {
        description:
          'Requests per minute. Only the operator can change them. Null restores the default.',
        examples: [{ events: 1_200, export: null }],
      },
    ),
  ),
  ...others,
  theme: Type.Optional(
    OrNull(
      RequestedTheme,
      'Default appearance of flows. Replaces the whole theme. Null removes it.',
      { accent: '#0b7285', radius: 10, font: { size: 16 } },
    ),
  ),
})
export type SettingsBody = Static<typeof SettingsBody>

export const KeyList = Type.Object({ keys: Type.Array(IssuedKey) }, { title: 'KeyList' })
export type KeyList = Static<typeof KeyList>

export const RotateBody = closed({
  graceHours: Type.Integer({
    minimum: 0,
    maximum: maxGraceHours,
    description: 'Hours for which the current one still works. 0 ends all earlier ones at once.',
    examples: [24],
  }),
})

const previousUntil = Instant('When the previous one stops working.')

export const RotatedKey = Type.Object(
  { snippetKey: KeyText, previousUntil },
  { title: 'RotatedKey' },
)
export type RotatedKey = Static<typeof RotatedKey>

export const RotatedSecret = Type.Object(
  { secret: SecretText, previousUntil },
  { title: 'RotatedSecret' },
)
export type RotatedSecret = Static<typeof RotatedSecret>

export const IdentityQuery = Type.Object({
  secrets: Type.Optional(
    Type.Literal('shown', { mustBe: 'shown', description: 'Include the secrets.' }),
  ),
})

const Hashes = {
  valid: Count('Calls with a valid hash.', 120),
  outdated: Count('Calls with a hash of the previous secret, which still works.', 0),
  invalid: Count('Calls with an invalid hash.', 0),
  missing: Count('Calls without a hash.', 3),
}

export const IdentityAnswer = Type.Object(
  {
    mode: OneOf(['off', 'observe', 'enforce']),
    secrets: Type.Array(
      Type.Object({ ...IdentitySecret.properties, secret: Type.Optional(SecretText) }),
      { description: 'Secrets that work, the current one first.' },
    ),
    last24h: Type.Object(Hashes, { description: 'Calls and events that named a user.' }),
    hours: Type.Array(Type.Object({ at: Instant('When the hour began.'), ...Hashes }), {
      description: 'The same by hour, without hours that had none.',
    }),
  },
  { title: 'Identity' },
)
export type IdentityAnswer = Static<typeof IdentityAnswer>
