import { type Static, Type } from '@sinclair/typebox'
import { Theme } from '../../core/flow/theme.ts'
import { closed, text } from '../../core/flow/values.ts'
import { roles } from '../../core/organisation/access.ts'
import { OneOf } from '../../core/shapes.ts'
import { DashboardLink } from '../../storage/interfaces/dashboard.ts'

export const NewLink = closed({
  role: DashboardLink.properties.role,
  name: Type.Optional(
    text(1, 100, {
      description: 'Name of the person, for the audit log. Sessions of one name end together.',
      examples: ['Ann'],
    }),
  ),
})

export const CreatedLink = Type.Object(
  {
    code: Type.String({
      description: 'Secret to append to `/dashboard/sign-in#`, returned once.',
      examples: ['…'],
    }),
    ...DashboardLink.properties,
  },
  { title: 'DashboardLink' },
)

export const SignInMethods = Type.Object({
  /** Where people sign in with an identity provider; null if there is none. */
  provider: Type.Union([
    Type.Object({
      name: Type.String(),
      /** Below the public URL, because the provider sends people back there and cookies belong to one host. */
      beginsAt: Type.String(),
    }),
    Type.Null(),
  ]),
  link: Type.Literal(true),
  token: Type.Literal(true),
})
export type SignInMethods = Static<typeof SignInMethods>

/** Exactly one of a link's code and a session token. */
export const Redeemed = closed({
  code: Type.Optional(Type.String({ maxLength: 100 })),
  token: Type.Optional(Type.String({ maxLength: 16_384 })),
})

const Organisation = Type.Object({ id: Type.String(), slug: Type.String(), name: Type.String() })

export const SignedIn = Type.Object({ organisation: Organisation })
export type SignedIn = Static<typeof SignedIn>

export const SessionToken = Type.Object({
  /** For the API, and only valid together with the cookie. */
  token: Type.String(),
  expiresAt: Type.String(),
  role: OneOf(roles),
  person: Type.Object({ name: Type.String() }),
  organisation: Organisation,
  /** The time zone of days if the address names none; null for the browser's. */
  timezone: Type.Union([Type.String(), Type.Null()]),
  /** The organisation's theme, in which previews are drawn; null if it has none. */
  theme: Type.Union([Theme, Type.Null()]),
  /** When the person has to sign in again, whatever they do until then. */
  endsAt: Type.String(),
})
export type SessionToken = Static<typeof SessionToken>

export const SignOut = closed({ everywhere: Type.Boolean() })

export const SignedOut = Type.Object({
  /** Where the browser goes to sign out at the provider too. */
  goTo: Type.Union([Type.String(), Type.Null()]),
})
export type SignedOut = Static<typeof SignedOut>
