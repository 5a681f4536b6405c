import { memberRoles } from '../core/organisation/access.ts'
import type { CreatedInvitation, MemberLink, MemberList } from '../modules/members/schema.ts'
import type { Command } from './command.ts'
import { serverOf } from './manage.ts'
import { print, tell } from './output.ts'
import { addGroup, type Given, option, type Row, row } from './table.ts'

const role = '<role>'

/** Settings that say where a browser reaches the server, if `--url` does not. */
const place = ['data', 'databaseUrl', 'publicUrl', 'port'] as const

function linkWith(code: string, { url, publicUrl, data, databaseUrl, port }: Given): string {
  const here = () => `http://localhost:${serverOf({ data, databaseUrl })?.port ?? port}`
  return `${(url ?? publicUrl ?? here()).replace(/\/+$/, '')}/dashboard/sign-in#${code}`
}

const rows: Row[] = [
  {
    name: 'list',
    about: 'list the members of an organisation',
    route: 'GET /members',
    part: 'members',
    columns: {
      id: 'id',
      name: 'name',
      role: ({ role, isRoleProvided }: MemberList['members'][number]) =>
        isRoleProvided ? `${role} (identity provider)` : role,
      'signs in by': 'method',
      'last seen': 'lastSeenAt',
    },
    none: 'No members. Next: cairn members invite owner',
    examples: ['cairn members list'],
  },
  row<CreatedInvitation & { link: string }>({
    name: 'invite',
    about: 'create an invitation link, which works once, within 7 days',
    args: { [role]: memberRoles.join(', ') },
    options: [option('--name <name>', 'name of the person; Cairn asks for it otherwise')],
    settings: place,
    async run({ ask }, given) {
      const { role, name } = given
      const made = await ask<CreatedInvitation>('POST /members/invitations', {
        body: { role, name },
      })
      return { ...made, link: linkWith(made.code, given) }
    },
    show({ link, name, role, expiresAt }) {
      print(link)
      tell(`Created an invitation for ${name ?? 'one person'} as ${role}, until ${expiresAt}.`)
    },
    examples: ['cairn members invite editor', 'cairn members invite owner --name Ann'],
  }),
  row<MemberLink & { link: string }>({
    name: 'link',
    about: 'create a sign-in link for a member, which works once, within 24 hours',
    args: { '<id>': 'as "cairn members list" shows it' },
    settings: place,
    async run({ ask }, given) {
      const path = `POST /members/${encodeURIComponent(given.id)}/links`
      const made = await ask<MemberLink>(path)
      return { ...made, link: linkWith(made.code, given) }
    },
    show({ link, expiresAt }) {
      print(link)
      tell(`Created a sign-in link, until ${expiresAt}. Earlier ones for this member ended.`)
    },
    examples: ['cairn members link member_4sWq9xLm2VbTn8Rk0c'],
  }),
  {
    name: 'role',
    about: "change a member's role",
    args: { '<id>': 'as "cairn members list" shows it', [role]: memberRoles.join(', ') },
    route: 'PATCH /members/:id',
    body: ({ role }) => ({ role }),
    show: (_, { id, role }) => print(`Changed ${id} to ${role}.`),
    examples: ['cairn members role member_4sWq9xLm2VbTn8Rk0c editor'],
  },
  {
    name: 'remove',
    about: 'remove a member; their sessions and management tokens end at once',
    args: { '<id>': 'as "cairn members list" shows it' },
    route: 'DELETE /members/:id',
    show: (_, { id }) => print(`Removed ${id}.`),
    examples: ['cairn members remove member_4sWq9xLm2VbTn8Rk0c'],
  },
]

export function addMembers(cairn: Command): void {
  const about = 'who may sign in to the dashboard, and as what'
  const examples = ['cairn members list', 'cairn members invite editor --name Ann']
  addGroup(cairn, { name: 'members', about, examples }, rows)
}
