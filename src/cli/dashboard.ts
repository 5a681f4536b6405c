import { type Role, roles } from '../core/organisation/access.ts'
import type { CreatedLink } from '../modules/dashboard/schema.ts'
import type { Command } from './command.ts'
import { CommandFailure } from './failure.ts'
import { type Manager, serverOf } from './manage.ts'
import { print, tell } from './output.ts'
import { addGroup, option, row } from './table.ts'

export function addDashboard(cairn: Command): void {
  const link = row<Awaited<ReturnType<typeof newLink>>>({
    name: 'link',
    about: 'create a sign-in link that works once, within ten minutes',
    scope: 'here',
    settings: ['data', 'databaseUrl', 'dashboard', 'publicUrl', 'port'],
    options: [
      option('--role <role>', 'role in the dashboard', { choices: roles, default: 'viewer' }),
      option('--name <name>', 'name of the person, for the audit log'),
    ],
    run(manager, { role, name, dashboard, data, databaseUrl, publicUrl, port }) {
      if (dashboard === 'off') {
        throw new CommandFailure('the dashboard is disabled: CAIRN_DASHBOARD is "off"')
      }
      const here = `http://localhost:${serverOf({ data, databaseUrl })?.port ?? port}`
      return newLink(manager, publicUrl ?? here, { role, name })
    },
    show({ url, name, role, expiresAt }) {
      print(url)
      tell(`The link signs ${name} in as ${role}, once, until ${expiresAt}.`)
    },
    examples: [
      'cairn dashboard link',
      'cairn dashboard link --role owner --name Ann --public-url https://cairn.example.com',
    ],
  })
  const about = 'create sign-in links for the dashboard'
  addGroup(cairn, { name: 'dashboard', about, examples: ['cairn dashboard link'] }, [link])
}

/** @param base address of the server */
export async function newLink(
  { ask }: Pick<Manager, 'ask'>,
  base: string,
  body: { role: Role; name?: string | undefined },
) {
  const { code, ...link } = await ask<typeof CreatedLink>('POST /dashboard/links', { body })
  return { url: `${base}/dashboard/sign-in#${code}`, ...link }
}
