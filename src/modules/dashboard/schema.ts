import { type Static, Type } from '@sinclair/typebox'
import { Theme } from '../../core/flow/theme.ts'
import { closed } from '../../core/flow/values.ts'
import { roles } from '../../core/organisation/access.ts'
import { personName } from '../../core/organisation/sessions.ts'
import { Instant, OneOf, Text } from '../../core/shapes.ts'

const role = OneOf(roles, { description: 'Role of the person.', examples: ['viewer'] })

export const NewLink = closed({
  role,
  name: Type.Optional(
    personName(
      'Name of the person. Links of one name are for the same member. Default: yourself, and the dashboard asks for your name.',
    ),
  ),
})

export const CreatedLink = Type.Object(
  {
    code: Type.String({
      description: 'Secret to append to `/dashboard/sign-in#`, returned once.',
      examples: ['…'],
    }),
    role,
    name: Text('Name of the person, as the audit log shows it.', 'Ann'),
    expiresAt: Instant('When the link stops working.'),
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
  /** `isNamed` is false until the person has given a name. */
  person: Type.Object({ id: Type.String(), name: Type.String(), isNamed: Type.Boolean() }),
  organisation: Organisation,
  /** The time zone of days if the address names none; null for the browser's. */
  timezone: Type.Union([Type.String(), Type.Null()]),
  /** The organisation's theme, in which previews are drawn; null if it has none. */
  theme: Type.Union([Theme, Type.Null()]),
  /** When the person has to sign in again, whatever they do until then. */
  endsAt: Type.String(),
})
export type SessionToken = Static<typeof SessionToken>

export const GivenName = closed({ name: personName('Your name.') })

export const SignOut = closed({ everywhere: Type.Boolean() })

export const SignedOut = Type.Object({
  /** Where the browser goes to sign out at the provider too. */
  goTo: Type.Union([Type.String(), Type.Null()]),
})
export type SignedOut = Static<typeof SignedOut>
