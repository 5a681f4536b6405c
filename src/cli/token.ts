import { Option } from 'commander'
import { scopes } from '../core/organisation/management-token.ts'
import { isoTime } from '../core/time/clock.ts'
import type { CreatedToken, TokenList } from '../modules/access/model.ts'

import { systemClock } from '../runtime/system-clock.ts'
import { tokenConflict } from '../runtime/token-mode.ts'
import type { Command } from './command.ts'
import { CommandFailure, UsageFailure } from './failure.ts'
import { addManaged, addOrgOption, asked, managedHere, serverOf } from './manage.ts'
import { print, printJson, printTable, tell } from './output.ts'
import { settingsOf } from './settings.ts'

const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 }
const longestSeconds = 366 * 86_400

/** `90s`, `30m`, `8h` or `7d` as seconds. */
function lifetimeIn(text: string): number {
  const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  const seconds = Number(count) * (unitSeconds[unit] ?? Number.NaN)
  if (seconds >= 1 && seconds <= longestSeconds) return seconds
  throw new UsageFailure(
    `--for "${text.slice(0, 20)}": write a time such as 90s, 30m, 8h or 7d, at most 366d`,
  )
}

export function addToken(cairn: Command): void {
  const token = cairn
    .command('token')
    .description('session tokens for analytics, and management tokens for programs')
    .examples(
      'cairn token issue --org harbor --for 8h',
      'cairn token create CI --scope flows:write flows:publish --org harbor',
    )
  addCreate(token)
  addList(token)
  addRevoke(token)
  addIssue(token)
}

/** The settings of session tokens that have a flag here. */
const issuing = ['sessionIssuer', 'sessionAudience', 'sessionType', 'organisationClaim'] as const

function addIssue(token: Command): void {
  addOrgOption(token.command('issue'), ...issuing)
    .description('make a session token for an organisation')
    .option(
      '--for <time>',
      'how long it is valid: a whole number of s, m, h or d, at most 366d',
      '12h',
    )
    .option('--json', 'print {token, expiresAt} as JSON')
    .examples('cairn token issue --org harbor', 'cairn token issue --org harbor --for 8h --json')
    .action(async (options: { for: string; json?: boolean }, command: Command) => {
      const config = settingsOf(
        command,
        ...(['data', 'databaseUrl', 'sessionSecret', 'sessionJwksUrl'] as const),
        ...issuing,
      )
      const seconds = lifetimeIn(options.for)
      const conflict = tokenConflict(serverOf(config)?.sessionTokens, config)
      if (conflict) throw new CommandFailure(`${conflict.what}: ${conflict.fix}`)
      const { providerOf } = await import('../runtime/identity-provider.ts')
      if (providerOf(config)) {
        throw new CommandFailure(
          `session tokens are made by ${config.sessionIssuer}, the configured issuer: ask it for one with the audience "${config.sessionAudience}" and the organisation in the claim "${config.organisationClaim}"`,
        )
      }
      const id = await managedHere(command, async manager => manager.id)
      const { ownTokensFor } = await import('../runtime/tokens.ts')
      const tokens = ownTokensFor(config, systemClock())
      const issued = await tokens.issue(id, seconds)
      const expiresAt = isoTime(issued.expiresAt)
      if (options.json) return printJson({ token: issued.token, expiresAt })
      print(issued.token)
    })
}

const longestDays = 365

function daysIn(text: string): number {
  const [, days] = /^(\d{1,3})d$/.exec(text) ?? []
  if (Number(days) >= 1 && Number(days) <= longestDays) return Number(days)
  throw new UsageFailure(
    `--expires "${text.slice(0, 20)}": write a number of days such as 90d, at most ${longestDays}d`,
  )
}

interface Wanted {
  scope: string[]
  expires: string
  json?: boolean
}

function addCreate(token: Command): void {
  addManaged(token.command('create'))
    .description('make a management token for programs; it is shown only once')
    .argument('<name>', 'what it is for, such as CI')
    .addOption(
      new Option('--scope <scope...>', 'what the token may do')
        .choices(scopes)
        .makeOptionMandatory(),
    )
    .option('--expires <days>', `when it expires, at most ${longestDays}d`, '90d')
    .option('--json', 'print {token, id, name, scopes, expiresAt, …} as JSON')
    .examples(
      'cairn token create CI --scope flows:write flows:publish --org harbor',
      'cairn token create warehouse --scope analytics:read --expires 365d --json',
    )
    .action(async (name: string, { scope, expires, json }: Wanted, command: Command) => {
      const body = { name, scopes: scope, expiresInDays: daysIn(expires) }
      const made = await asked<typeof CreatedToken>(command, 'POST /tokens', { body })
      if (json) return printJson(made)
      print(made.token)
      tell(`${made.id} works until ${made.expiresAt}: keep it, it is shown only once`)
    })
}

function addList(token: Command): void {
  addManaged(token.command('list'))
    .description('list the management tokens of an organisation')
    .option('--json', 'print a JSON array')
    .examples('cairn token list --org harbor')
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const { tokens } = await asked<typeof TokenList>(command, 'GET /tokens')
      if (json) return printJson(tokens)
      printTable(
        ['id', 'name', 'scopes', 'expires', 'last used', ''],
        tokens.map(one => [
          one.id,
          one.name,
          one.scopes.join(' '),
          one.expiresAt,
          one.lastUsedAt ?? 'never',
          one.revokedAt === null ? '' : `revoked ${one.revokedAt}`,
        ]),
        'there is no management token: make one with "cairn token create NAME --scope SCOPE"',
      )
    })
}

function addRevoke(token: Command): void {
  addManaged(token.command('revoke'))
    .description('take a management token back, at once')
    .argument('<id>', 'as "cairn token list" shows it')
    .examples('cairn token revoke token_4sWq9xLm2VbTn8Rk0c --org harbor')
    .action(async (id: string, _: object, command: Command) => {
      await asked(command, `DELETE /tokens/${encodeURIComponent(id)}`)
      print(`${id} has been revoked`)
    })
}
