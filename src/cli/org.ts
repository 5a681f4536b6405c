import { mayNameSomebody } from '../core/event/traits.ts'
import { describeProblem } from '../core/flow/file.ts'
import type { Theme } from '../core/flow/theme.ts'
import { readThemeFile } from '../core/flow/theme-file.ts'
import { themeProblems } from '../core/flow/theme-rules.ts'
import { isoTime } from '../core/time/clock.ts'
import { dayMs } from '../core/time/durations.ts'
import type { EnvironmentsAnswer } from '../modules/environments/schema.ts'
import { type Settings, SettingsBody } from '../modules/organisations/schema.ts'
import type { Command } from './command.ts'
import { tokenIn } from './elsewhere.ts'
import { CommandFailure, UsageFailure, warn } from './failure.ts'
import { readTextFile } from './files.ts'
import { allOrganisations, type Manager } from './manage.ts'
import { addIdentity, warnBeforeEnforcing } from './org-identity.ts'
import { statusRow } from './org-status.ts'
import { print, printTable } from './output.ts'
import { settingRows } from './setting-rows.ts'
import { addGroup, option, type Row, row } from './table.ts'

/** Holds the token of the other organisation, so that it is in no list of processes and in no history. */
const stagingToken = 'CAIRN_STAGING_TOKEN'

const rows: Row[] = [
  {
    name: 'create',
    about: 'create an organisation with its snippet key',
    scope: 'server',
    makesData: true,
    args: { '<name>': 'its name' },
    options: [
      option('--slug <slug>', 'short name, a-z 0-9 and "-"; made from the name by default'),
      option(
        '--staging-of <org>',
        'link it as staging: flows are tried in it and promoted to that one',
      ),
    ],
    route: 'POST /organisations',
    body: ({ name, slug, stagingOf }) => ({ name, slug, stagingOf }),
    examples: [
      'cairn org create "Harbor Inc"',
      'cairn org create "Harbor Inc" --slug harbor --json',
      'cairn org create "Harbor staging" --staging-of harbor',
    ],
  },
  {
    name: 'list',
    about: 'list all organisations',
    scope: 'server',
    run: async manager => ({ organisations: await allOrganisations(manager) }),
    part: 'organisations',
    columns: { slug: 'slug', id: 'id', name: 'name', created: 'createdAt' },
    none: 'no organisations yet: create one with "cairn org create NAME"',
    examples: ['cairn org list', 'cairn org list --json'],
  },
  statusRow,
  ...settingRows({
    command: 'cairn org',
    what: 'the settings of an organisation',
    schema: SettingsBody,
    read: 'GET /settings',
    change: 'PATCH /settings',
    whole: ['theme'],
    fromFile: themeIn,
    changed: warnOfChange,
    examples: [
      ['retentionDays', '30'],
      ['origins', 'https://app.harbor.example http://localhost:3000'],
      ['limits.events', '1200'],
      ['theme.radius', '6'],
      ['theme', '@theme.yaml'],
    ],
  }),
  row<EnvironmentsAnswer>({
    name: 'links',
    about: 'list the organisations in which flows are tried for this one',
    route: 'GET /environments',
    show({ production, staging }) {
      if (production) return print(`tries flows for ${production.slug}`)
      printTable(
        ['staging', 'id', 'name', 'linked'],
        staging.map(({ slug, id, name, linkedAt }) => [slug, id, name, linkedAt]),
        'no organisation tries flows for this one: link one with "cairn org link OTHER"',
      )
    },
    examples: ['cairn org links'],
  }),
  row<EnvironmentsAnswer>({
    name: 'link',
    about: 'link an organisation in which flows are tried for this one, and read from it',
    args: { '[staging]': 'id or slug of that organisation; with --url see below' },
    run: ({ ask }, given) => ask('POST /environments', { body: linkBody(given) }),
    show: ({ staging }) => print(`Linked: ${staging.map(({ slug }) => slug).join(', ')}.`),
    examples: [
      'cairn org link harbor-staging --org harbor',
      `CAIRN_TOKEN=… ${stagingToken}=… cairn org link --url https://cairn.example.com`,
    ],
    notes: `Whoever writes flows here may then read the flows there, and nothing else. With
--url, the variable ${stagingToken} holds a management token of the other
organisation with the scope settings:write.`,
  }),
  {
    name: 'unlink',
    about: 'remove a link, from either side: what was promoted stays',
    args: { '<other>': 'id or slug of the organisation at the other end' },
    route: 'DELETE /environments/:other',
    show: (_, { other }) => print(`Unlinked ${other}.`),
    examples: ['cairn org unlink harbor-staging --org harbor'],
  },
]

export function addOrg(cairn: Command): void {
  const org = addGroup(
    cairn,
    {
      name: 'org',
      about: 'organisations, which own flows, keys and limits, and their settings',
      examples: [
        'cairn org create "Harbor Inc"',
        'cairn org settings',
        'cairn org set retentionDays 30',
      ],
    },
    rows,
  )
  addIdentity(org)
}

function linkBody({ staging, url }: { staging?: string; url?: string }): object {
  if (url !== undefined && staging === undefined) return { token: tokenIn(stagingToken) }
  if (url === undefined && staging !== undefined) return { organisation: staging }
  throw new UsageFailure(
    url === undefined
      ? 'name the organisation in which flows are tried'
      : `with --url, name the other organisation by its token, in the variable ${stagingToken}`,
  )
}

/** The theme of a file; what is wrong in it is reported line by line. @throws CommandFailure */
function themeIn(path: string): Theme {
  const file = readTextFile(path)
  const format = path.endsWith('.json') ? 'json' : 'yaml'
  const { theme, problems } =
    'problem' in file
      ? { theme: null, problems: [file.problem] }
      : readThemeFile(file.text, { format })
  if (theme !== null) return theme
  const lines = problems.map(problem => describeProblem(problem, file.name))
  throw new CommandFailure(['the theme was not changed', ...lines].join('\n'))
}

/** Says what a change of the settings means for data and visitors. */
async function warnOfChange(key: string, settings: Settings, manager: Manager): Promise<void> {
  const { retentionDays, traits, theme, identityMode } = settings
  if (key === 'retentionDays' && retentionDays !== null) {
    const before = isoTime(Date.now() - retentionDays * dayMs)
    warn(`raw events received before ${before} will be deleted permanently`)
  }
  if (key === 'traits' && traits.some(mayNameSomebody)) {
    warn('a trait that says who somebody is makes every run personal data')
  }
  if (key.startsWith('theme') && theme !== null) {
    for (const { code, path, message } of themeProblems(theme)) warn(`${code} ${path} ${message}`)
  }
  if (key === 'identityMode' && identityMode === 'enforce') await warnBeforeEnforcing(manager)
}
