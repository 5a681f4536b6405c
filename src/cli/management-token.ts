import { type Command, Option } from 'commander'
import { scopes } from '../core/organisation/management-token.ts'
import { examples } from './examples.ts'
import { UsageFailure } from './failure.ts'
import { addManaged, managed } from './manage.ts'
import { print, printJson, printTable, tell } from './output.ts'
import { addSettings } from './settings.ts'

/** A management token as the API tells of it. */
interface Token {
  id: string
  name: string
  scopes: string[]
  createdAt: string
  expiresAt: string
  lastUsedAt: string | null
  revokedAt: string | null
}

/** Tokens by which programs manage an organisation: CI, back ends, a command line elsewhere. */
export function addManagementTokens(token: Command): void {
  addCreate(token)
  addList(token)
  addRevoke(token)
}

const longestDays = 365

function daysIn(text: string): number {
  const [, days] = /^(\d{1,3})d$/.exec(text) ?? []
  if (Number(days) >= 1 && Number(days) <= longestDays) return Number(days)
  throw new UsageFailure(
    `--expires "${text.slice(0, 20)}": write a number of days such as 90d, at most ${longestDays}d`,
  )
}

function addCreate(token: Command): void {
  addManaged(addSettings(token.command('create'), ['data']))
    .description('make a management token for programs; it is told this once')
    .argument('<name>', 'what it is for, such as CI')
    .addOption(
      new Option('--scope <scope...>', 'what it may do').choices(scopes).makeOptionMandatory(),
    )
    .option('--expires <days>', `when it stops working, at most ${longestDays}d`, '90d')
    .option('--json', 'print {token, id, name, scopes, expiresAt, …} as JSON')
    .addHelpText(
      'after',
      examples(
        'cairn token create CI --scope flows:write flows:publish --org harbor',
        'cairn token create warehouse --scope analytics:read --expires 365d --json',
      ),
    )
    .action(
      async (
        name: string,
        options: { scope: string[]; expires: string; json?: boolean },
        command: Command,
      ) => {
        const body = { name, scopes: options.scope, expiresInDays: daysIn(options.expires) }
        const made = await managed(command, ({ ask }) =>
          ask<Token & { token: string }>('POST /tokens', { body }),
        )
        if (options.json) return printJson(made)
        print(made.token)
        tell(`${made.id} works until ${made.expiresAt}: keep it, it is not told again`)
      },
    )
}

function addList(token: Command): void {
  addManaged(addSettings(token.command('list'), ['data']))
    .description('list the management tokens of an organisation')
    .option('--json', 'print a JSON array')
    .addHelpText('after', examples('cairn token list --org harbor'))
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const { tokens } = await managed(command, ({ ask }) =>
        ask<{ tokens: Token[] }>('GET /tokens'),
      )
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
        'there is no management token: make one, "cairn token create NAME --scope SCOPE"',
      )
    })
}

function addRevoke(token: Command): void {
  addManaged(addSettings(token.command('revoke'), ['data']))
    .description('take a management token back, at once')
    .argument('<id>', 'as "cairn token list" shows it')
    .addHelpText('after', examples('cairn token revoke token_4sWq9xLm2VbTn8Rk0c --org harbor'))
    .action(async (id: string, _: object, command: Command) => {
      await managed(command, ({ ask }) => ask(`DELETE /tokens/${encodeURIComponent(id)}`))
      print(`${id} is revoked`)
    })
}
