import { mayNameSomebody } from '../core/event/traits.ts'
import { describeProblem } from '../core/flow/file.ts'
import type { Theme } from '../core/flow/theme.ts'
import { readThemeFile } from '../core/flow/theme-file.ts'
import { themeProblems } from '../core/flow/theme-rules.ts'
import { rejectedShare } from '../core/organisation/verified-identity.ts'
import { isoTime } from '../core/time/clock.ts'
import { dayMs } from '../core/time/durations.ts'
import type { EnvironmentsAnswer } from '../modules/environments/schema.ts'
import {
  type IdentityAnswer,
  type RotatedSecret,
  type Settings,
  SettingsBody,
} from '../modules/organisations/schema.ts'
import type { Command } from './command.ts'
import { tokenIn } from './elsewhere.ts'
import { CommandFailure, UsageFailure, warn } from './failure.ts'
import { readTextFile } from './files.ts'
import { allOrganisations, type Manager } from './manage.ts'
import { statusRow } from './org-status.ts'
import { fieldLines, print, printTable, tell } from './output.ts'
import { settingRows } from './setting-rows.ts'
import { addGroup, option, type Row, row } from './table.ts'

/** Holds the token of the other organisation. An option would show it in process lists and shell histories. */
const stagingToken = 'CAIRN_STAGING_TOKEN'

const rows: Row[] = [
  {
    name: 'create',
    about: 'create an organisation with its snippet key',
    scope: 'server',
    makesData: true,
    args: { '<name>': 'its name' },
    options: [
      option('--slug <slug>', 'short name of a-z, 0-9 and "-" (default: from the name)'),
      option('--staging-of <org>', 'make it the staging environment of that organisation'),
    ],
    route: 'POST /organisations',
    body: ({ name, slug, stagingOf }) => ({ name, slug, stagingOf }),
    show(created) {
      print(...fieldLines(created))
      tell(`Created ${created.slug}. Next: cairn flows push FILE --publish, then cairn serve`)
    },
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
    none: 'No organisations. Create one with "cairn org create NAME".',
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
    about: 'list the staging environments of an organisation',
    route: 'GET /environments',
    show({ production, staging }) {
      if (production) return print(`Staging environment of ${production.slug}.`)
      printTable(
        ['staging', 'id', 'name', 'linked'],
        staging.map(({ slug, id, name, linkedAt }) => [slug, id, name, linkedAt]),
        'No staging environment. Link one with "cairn org link OTHER".',
      )
    },
    examples: ['cairn org links'],
  }),
  row<EnvironmentsAnswer>({
    name: 'link',
    about: 'link an organisation as a staging environment, to promote flows from it',
    args: { '[staging]': 'id or slug of that organisation; with --url see below' },
    run: ({ ask }, given) => ask('POST /environments', { body: linkBody(given) }),
    show: ({ staging }) => print(`Linked ${staging.map(({ slug }) => slug).join(', ')}.`),
    examples: [
      'cairn org link harbor-staging --org harbor',
      `CAIRN_TOKEN=… ${stagingToken}=… cairn org link --url https://cairn.example.com`,
    ],
    notes: `People who can write flows here can then read the flows there, and nothing else.
With --url, set ${stagingToken} to a management token of the other
organisation with the scope settings:write.`,
  }),
  {
    name: 'unlink',
    about: 'remove a link, from either side; promoted flows stay',
    args: { '<other>': 'id or slug of the other organisation' },
    route: 'DELETE /environments/:other',
    show: (_, { other }) => print(`Unlinked ${other}.`),
    examples: ['cairn org unlink harbor-staging --org harbor'],
  },
]

const identityRows: Row[] = [
  row<IdentityAnswer>({
    name: 'show',
    about: 'show the mode of identity verification, its secrets, and how many calls were valid',
    options: [option('--secrets', 'print the secrets')],
    route: 'GET /identity',
    query: ({ secrets }) => ({ secrets: secrets && 'shown' }),
    show: ({ mode, last24h }) => print(...fieldLines({ mode, last24h }), ''),
    items: 'secrets',
    columns: {
      secret: ({ secret }) => secret ?? '(print it with --secrets)',
      created: 'createdAt',
      'valid until': ({ worksUntil }) => worksUntil ?? 'current',
    },
    none: 'No secret. Create one with "cairn org set identityMode observe".',
    examples: ['cairn org identity show', 'cairn org identity show --secrets'],
  }),
  row<RotatedSecret>({
    name: 'rotate',
    about: 'create a new secret; the old one stays valid for the grace period',
    settings: ['keyGraceHours'],
    options: [option('--now', 'reject the hashes of older secrets at once')],
    route: 'POST /identity/rotate',
    body: ({ now, keyGraceHours }) => ({ graceHours: now ? 0 : keyGraceHours }),
    show({ secret, previousUntil }, { now }) {
      print(secret)
      tell(now ? 'Revoked the old secret.' : `The old secret is valid until ${previousUntil}.`)
    },
    examples: ['cairn org identity rotate', 'cairn org identity rotate --now'],
  }),
]

const identityGroup = {
  name: 'identity',
  about: 'identity verification: calls that name a user carry a hash from your back end',
  examples: [
    'cairn org set identityMode observe',
    'cairn org identity show --secrets',
    'cairn org set identityMode enforce',
  ],
  notes: `The hash is HMAC-SHA256 of the user ID, with the secret's text as the key, in
lower-case hex. Your back end computes it. Every call with a userId sends it as
userHash, also from your back end. The database holds the secrets in plain text,
and so do backups.`,
}

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
  addGroup(org, identityGroup, identityRows)
}

function linkBody({ staging, url }: { staging?: string; url?: string }): object {
  if (url !== undefined && staging === undefined) return { token: tokenIn(stagingToken) }
  if (url === undefined && staging !== undefined) return { organisation: staging }
  throw new UsageFailure(
    url === undefined
      ? 'name the organisation to link'
      : `with --url, set ${stagingToken} to a token of the other organisation instead of naming it`,
  )
}

/** @throws CommandFailure with a line for each problem */
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

/** Prints what a change of the settings means for data and visitors. */
async function warnOfChange(key: string, settings: Settings, manager: Manager): Promise<void> {
  const { retentionDays, traits, theme, identityMode } = settings
  if (key === 'retentionDays' && retentionDays !== null) {
    const before = isoTime(Date.now() - retentionDays * dayMs)
    warn(`raw events received before ${before} will be deleted permanently`)
  }
  if (key === 'traits' && traits.some(mayNameSomebody)) {
    warn('a trait that identifies a person makes every run personal data')
  }
  if (key.startsWith('theme') && theme !== null) {
    for (const { code, path, message } of themeProblems(theme)) warn(`${code} ${path} ${message}`)
  }
  if (key === 'identityMode' && identityMode === 'enforce') {
    const { last24h } = await manager.ask<IdentityAnswer>('GET /identity')
    const { rejected, all } = rejectedShare(last24h)
    if (all === 0) warn('no call with a userId in the last 24 hours, so the effect is unknown')
    if (rejected === 0) return
    warn(
      `${rejected} of ${all} calls and events in the last 24 hours had no valid hash and would be rejected: "cairn org set identityMode observe" goes back`,
    )
  }
}
