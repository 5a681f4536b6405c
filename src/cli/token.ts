import { InvalidArgumentError } from 'commander'
import type { Config } from '../config/settings.ts'
import { scopes } from '../core/organisation/access.ts'
import { isoTime } from '../core/time/clock.ts'
import type { CreatedToken } from '../modules/access/schema.ts'
import { systemClock } from '../runtime/system-clock.ts'
import { tokenConflict } from '../runtime/token-mode.ts'
import type { Command } from './command.ts'
import { CommandFailure } from './failure.ts'
import { serverOf } from './manage.ts'
import { print, tell } from './output.ts'
import { addGroup, option, type Row, row } from './table.ts'

const secondsOf: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 }

/** Reads a duration such as `8h` as seconds. */
const lifetime = (units: string, maxDays: number) => (text: string) => {
  const [, count, unit = ''] = new RegExp(`^(\\d{1,9})([${units}])$`).exec(text) ?? []
  const seconds = Number(count) * (secondsOf[unit] ?? Number.NaN)
  if (seconds >= 1 && seconds <= maxDays * secondsOf.d!) return seconds
  const forms = [...units].map(each => `30${each}`).join(', ')
  throw new InvalidArgumentError(`It must be a duration such as ${forms}, at most ${maxDays}d.`)
}

/** The settings of session tokens that have a flag here. */
const tokenSettings = [
  ...(['sessionIssuer', 'sessionAudience', 'sessionType', 'organisationClaim'] as const),
] as const

const rows: Row[] = [
  row<CreatedToken>({
    name: 'create',
    about: 'create a management token for a program; it is shown only once',
    args: { '<name>': 'what it is for, such as CI' },
    options: [
      option('--scope <scope...>', 'what the token may do', { choices: scopes, isRequired: true }),
      option('--expires <days>', 'days until it expires, at most 365d', {
        default: '90d',
        parse: lifetime('d', 365),
      }),
    ],
    route: 'POST /tokens',
    body: ({ name, scope, expires }) => ({
      ...{ name, scopes: scope, expiresInDays: expires / secondsOf.d! },
    }),
    show({ token, id, expiresAt }) {
      print(token)
      tell(`Created ${id}, valid until ${expiresAt}. Store it now: it is shown only once.`)
    },
    examples: [
      'cairn token create CI --scope flows:write flows:publish',
      'cairn token create warehouse --scope analytics:read --expires 365d --json',
    ],
  }),
  {
    name: 'list',
    about: 'list the management tokens of an organisation',
    route: 'GET /tokens',
    part: 'tokens',
    columns: {
      id: 'id',
      name: 'name',
      scopes: 'scopes',
      expires: 'expiresAt',
      'last used': ({ lastUsedAt }) => lastUsedAt ?? 'never',
      revoked: 'revokedAt',
    },
    none: 'No management tokens. Create one with "cairn token create NAME --scope SCOPE".',
    examples: ['cairn token list'],
  },
  {
    name: 'revoke',
    about: 'revoke a management token at once',
    args: { '<id>': 'as "cairn token list" shows it' },
    route: 'DELETE /tokens/:id',
    show: (_, { id }) => print(`Revoked ${id}.`),
    examples: ['cairn token revoke token_4sWq9xLm2VbTn8Rk0c'],
  },
  row<{ token: string; expiresAt: string }>({
    name: 'issue',
    about: 'issue a session token, with which an analyst reads results through the API',
    scope: 'here',
    settings: ['data', 'databaseUrl', 'sessionSecret', 'sessionJwksUrl', ...tokenSettings],
    options: [
      option('--for <time>', 'how long it is valid, such as 90s, 30m, 8h or 7d; at most 366d', {
        ...{ default: '12h', parse: lifetime('smhd', 366) },
      }),
    ],
    run: ({ id }, given) => issue(id, given as IssueSettings, given.for),
    show: ({ token }) => print(token),
    examples: ['cairn token issue', 'cairn token issue --for 8h --json'],
  }),
]

type IssueSettings = Pick<
  Config,
  'data' | 'databaseUrl' | 'sessionSecret' | 'sessionJwksUrl' | (typeof tokenSettings)[number]
>

async function issue(organisation: string, config: IssueSettings, seconds: number) {
  const conflict = tokenConflict(serverOf(config)?.sessionTokens, config)
  if (conflict) throw new CommandFailure(`${conflict.what}: ${conflict.fix}`)
  const { providerOf } = await import('../runtime/identity-provider.ts')
  if (providerOf(config)) {
    throw new CommandFailure(
      `the identity provider ${config.sessionIssuer} issues session tokens: request one with the audience "${config.sessionAudience}" and the organisation in the claim "${config.organisationClaim}"`,
    )
  }
  const { ownTokensFor } = await import('../runtime/tokens.ts')
  const issued = await ownTokensFor(config, systemClock()).issue(organisation, seconds)
  return { token: issued.token, expiresAt: isoTime(issued.expiresAt) }
}

export function addToken(cairn: Command): void {
  addGroup(
    cairn,
    {
      name: 'token',
      about: 'session tokens for analysts, and management tokens for programs',
      examples: [
        'cairn token issue --for 8h',
        'cairn token create CI --scope flows:write flows:publish',
      ],
    },
    rows,
  )
}
