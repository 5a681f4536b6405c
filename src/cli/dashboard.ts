import { Option } from 'commander'
import { type Role, roles } from '../core/organisation/role.ts'
import { shown } from '../core/text/wording.ts'
import type { CreatedLink } from '../modules/dashboard/model.ts'
import type { Command } from './command.ts'
import { CommandFailure, UsageFailure } from './failure.ts'
import { addOrgOption, type Manager, managedHere, serverOf } from './manage.ts'
import { print, printJson, tell } from './output.ts'
import { settingsOf } from './settings.ts'

export function addDashboard(cairn: Command): void {
  const dashboard = cairn
    .command('dashboard')
    .description('let somebody into the dashboard')
    .examples('cairn dashboard link --org harbor')
  addLink(dashboard)
}

interface Wanted {
  role: Role
  name?: string
  url?: string
  json?: boolean
}

function addLink(dashboard: Command): void {
  addOrgOption(dashboard.command('link'), 'publicUrl', 'port')
    .description('print a link that signs somebody in: it works once, for ten minutes')
    .addOption(
      new Option('--role <role>', 'role in the dashboard').choices(roles).default('viewer'),
    )
    .option('--name <name>', 'name of the person, for the audit log')
    .option(
      '--url <url>',
      'address of the server for browsers (default: the setting, or this machine)',
    )
    .option('--json', 'print {url, role, name, expiresAt} as JSON')
    .examples(
      'cairn dashboard link',
      'cairn dashboard link --role owner --name Ann --url https://cairn.example.com',
    )
    .action(async ({ role, name, url, json }: Wanted, command: Command) => {
      const config = settingsOf(command, 'data', 'databaseUrl', 'dashboard', 'publicUrl', 'port')
      if (config.dashboard === 'off') {
        throw new CommandFailure('there is no dashboard: CAIRN_DASHBOARD is "off"')
      }
      const port = serverOf(config)?.port ?? config.port
      const base = url === undefined ? config.publicUrl : addressIn(url)
      const link = await managedHere(command, manager =>
        newLink(manager, base ?? `http://localhost:${port}`, { role, name }),
      )
      if (json) return printJson(link)
      print(link.url)
      tell(`the link signs ${link.name} in as ${role}; it works once, until ${link.expiresAt}`)
    })
}

/** @throws UsageFailure */
function addressIn(text: string): string {
  const url = URL.parse(text)
  const more = url && url.username + url.password + url.search + url.hash
  if (url && /^https?:$/.test(url.protocol) && more === '') return url.href.replace(/\/+$/, '')
  throw new UsageFailure(
    `--url must be an address such as https://cairn.example.com, not '${shown(text)}'`,
  )
}

/** Makes a link to the dashboard of a server at an address. */
export async function newLink(
  { ask }: Pick<Manager, 'ask'>,
  base: string,
  body: { role: Role; name?: string | undefined },
) {
  const { code, ...link } = await ask<typeof CreatedLink>('POST /dashboard/links', { body })
  return { url: `${base}/dashboard/sign-in#${code}`, ...link }
}
