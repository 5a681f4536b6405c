import { type Static, Type } from '@sinclair/typebox'
import { closed, text } from '../../core/flow/values.ts'
import { scopes } from '../../core/organisation/access.ts'
import { Instant, OneOf, OrganisationNames, OrNull, Text } from '../../core/shapes.ts'
import { ManagementToken, Scopes } from '../../storage/interfaces/access.ts'

export const TokenList = Type.Object(
  { tokens: Type.Array(ManagementToken) },
  { title: 'TokenList' },
)
export type TokenList = Static<typeof TokenList>

export const NewToken = closed({
  name: text(1, 100, { description: 'What it is for.', examples: ['CI'] }),
  scopes: Type.Array(OneOf(scopes), {
    minItems: 1,
    maxItems: scopes.length,
    uniqueItems: true,
    description: 'What it may do. You can only grant scopes that you have.',
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
    ...ManagementToken.properties,
    token: Text('The token itself, returned once.', 'crn_…'),
  },
  { title: 'CreatedToken' },
)
export type CreatedToken = Static<typeof CreatedToken>

export const Me = Type.Object(
  {
    organisation: Type.Object(OrganisationNames),
    kind: OneOf(['operator', 'token', 'session']),
    name: Type.String({ examples: ['CI'] }),
    scopes: Scopes,
    traits: Type.Array(Type.String(), {
      description: 'Traits by which analytics can be filtered, from the settings.',
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
      description: 'Number of the line. The newest has the highest.',
      examples: [41],
    }),
    at: Instant('When the change was made.'),
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
    next: OrNull(Type.Integer(), 'Send it as `before` to get older lines. Null on the last page.'),
  },
  { title: 'AuditLog' },
)
export type AuditLog = Static<typeof AuditLog>

export const AuditQuery = Type.Object({
  before: Type.Optional(
    Type.String({
      pattern: '^[1-9]\\d{0,14}$',
      mustBe: 'a line of the log',
      description: 'Return lines older than this one.',
    }),
  ),
  subject: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'Return only changes of this subject, such as a flow key.',
    }),
  ),
})
