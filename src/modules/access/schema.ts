import { type Static, Type } from '@sinclair/typebox'
import { closed, text } from '../../core/flow/values.ts'
import { scopes } from '../../core/organisation/management-token.ts'
import {
  Instant,
  InstantOrNull,
  OneOf,
  OrganisationNames,
  OrNull,
  Text,
} from '../../core/shapes.ts'

const Scopes = Type.Array(OneOf(scopes), {
  description: 'What it may do.',
  examples: [['flows:read', 'flows:write', 'flows:publish']],
})

const tokenFields = {
  id: Type.String({ examples: ['token_4sWq9xLm2VbTn8Rk0c'] }),
  name: Type.String({ examples: ['CI'] }),
  scopes: Scopes,
  createdAt: Instant('When it was made.'),
  expiresAt: Instant('When it stops working.', '2027-11-20T09:30:00.000Z'),
  lastUsedAt: InstantOrNull('When it was last used, to the minute.'),
  revokedAt: InstantOrNull('When it was revoked.'),
}

const Token = Type.Object(tokenFields, { title: 'ManagementToken' })

export const TokenList = Type.Object({ tokens: Type.Array(Token) }, { title: 'TokenList' })

export const NewToken = closed({
  name: text(1, 100, { description: 'What it is for.', examples: ['CI'] }),
  scopes: Type.Array(OneOf(scopes), {
    minItems: 1,
    maxItems: scopes.length,
    uniqueItems: true,
    description: 'What it may do; none that you lack yourself.',
    examples: [['flows:read', 'flows:write', 'flows:publish']],
  }),
  expiresInDays: Type.Integer({
    minimum: 1,
    maximum: 365,
    description: 'How long it works.',
    examples: [90],
  }),
})

export const CreatedToken = Type.Object(
  {
    ...tokenFields,
    token: Text('The token itself, returned once.', 'crn_…'),
  },
  { title: 'CreatedToken' },
)

export const Me = Type.Object(
  {
    organisation: Type.Object(OrganisationNames),
    kind: OneOf(['operator', 'token', 'session']),
    name: Type.String({ examples: ['CI'] }),
    scopes: Scopes,
    traits: Type.Array(Type.String(), {
      description: 'Traits of people that runs can be told apart by, as the settings list them.',
      examples: [['plan']],
    }),
  },
  { title: 'Me' },
)
export type Me = Static<typeof Me>

const anything = Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()])

const AuditLine = Type.Object(
  {
    line: Type.Integer({
      description: 'Names the line; the newest has the greatest.',
      examples: [41],
    }),
    at: Instant('When.'),
    via: OneOf(['command line', 'token', 'dashboard', 'mail']),
    actor: Type.String({ examples: ['CI (token_4sWq9xLm2VbTn8Rk0c)'] }),
    requestId: Type.Union([Type.String(), Type.Null()]),
    action: Type.String({ examples: ['flow.publish'] }),
    subject: Text('What was changed.', 'welcome'),
    before: anything,
    after: anything,
    note: Type.Union([Type.String(), Type.Null()]),
  },
  { title: 'AuditLine' },
)

export const AuditLog = Type.Object(
  {
    lines: Type.Array(AuditLine),
    next: OrNull(Type.Integer(), 'Send it as `before` for older lines; null where there are none.'),
  },
  { title: 'AuditLog' },
)

export const AuditQuery = Type.Object({
  before: Type.Optional(
    Type.String({
      pattern: '^[1-9]\\d{0,14}$',
      mustBe: 'a line of the log',
      description: 'Older lines than this.',
    }),
  ),
  subject: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'Of this alone, such as a flow by its key.',
    }),
  ),
})
export type AuditLog = Static<typeof AuditLog>
export type TokenList = Static<typeof TokenList>
export type CreatedToken = Static<typeof CreatedToken>
