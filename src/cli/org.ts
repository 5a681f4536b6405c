import { type Command, Option } from 'commander'
import { buckets, defaultLimits, largestLimit } from '../core/organisation/buckets.ts'
import type { Settings } from '../modules/organisations/model.ts'
import {
  longestSlug,
  nameFault,
  readOrigin,
  slugFault,
  slugFrom,
} from '../modules/organisations/rules.ts'
import { requireNoLostDatabase } from '../storage/database/lost-database.ts'
import { makeDirectory, requireData } from './data.ts'
import { examples } from './examples.ts'
import { CommandFailure, UsageFailure } from './failure.ts'
import { addUrl, allOrganisations, managedOrg, operated } from './manage.ts'
import { addIdentity } from './org-identity.ts'
import { addPrivacy } from './org-privacy.ts'
import { addRetention } from './org-retention.ts'
import { addStatus } from './org-status.ts'
import { print, printJson, printTable } from './output.ts'
import { addSettings, settingsOf } from './settings.ts'

export function addOrg(cairn: Command): void {
  const org = cairn
    .command('org')
    .description('organisations: who owns flows, keys and limits')
    .addHelpText('after', examples('cairn org create "Harbor Inc"', 'cairn org list'))
  addCreate(org)
  addList(org)
  addLimits(org)
  addOrigins(org)
  addPrivacy(org)
  addRetention(org)
  addIdentity(org)
  addStatus(org)
}

function addCreate(org: Command): void {
  addSettings(org.command('create'), ['data'])
    .description('make an organisation with its snippet key')
    .argument('<name>', 'its name')
    .option('--slug <slug>', 'its short name, a-z 0-9 and "-"; made from the name unless given')
    .option('--json', 'print {id, slug, snippetKey} as JSON')
    .addHelpText(
      'after',
      examples(
        'cairn org create "Harbor Inc"',
        'cairn org create "Harbor Inc" --slug harbor --json',
      ),
    )
    .action(async (name: string, options: { slug?: string; json?: boolean }, command: Command) => {
      const { data } = settingsOf(command, 'data')
      requireNameable(name, options.slug)
      makeDirectory(data)
      requireNoLostDatabase(data)
      const body = { name, ...(options.slug === undefined ? {} : { slug: options.slug }) }
      const made = await operated(data, ask => ask<Created>('POST /organisations', { body }))
      const { id, slug, snippetKey } = made
      if (options.json) return printJson({ id, slug, snippetKey })
      print(
        `organisation  ${made.name}`,
        `id            ${id}`,
        `slug          ${slug}`,
        `snippet key   ${snippetKey}`,
      )
    })
}

type Created = Record<'id' | 'slug' | 'name' | 'snippetKey', string>

/** By the same rules as the API, with the value and the option in the message. */
function requireNameable(name: string, slug: string | undefined): void {
  const fault = nameFault(name)
  if (fault) throw new CommandFailure(fault)
  if (slug === undefined && slugFrom(name) === '') {
    throw new CommandFailure('the name has no letter a-z or digit to make a slug of: choose --slug')
  }
  const wrong = slug === undefined ? null : slugFault(slug)
  if (wrong) throw new CommandFailure(`"${slug?.slice(0, longestSlug)}" is no slug: ${wrong}`)
}

const told = (settings: Settings) => {
  const { id, slug, name, limits, origins, retentionDays, honoursDoNotTrack, createdAt } = settings
  return { id, slug, name, limits, origins, retentionDays, honoursDoNotTrack, createdAt }
}

function addList(org: Command): void {
  addSettings(org.command('list'), ['data'])
    .description('list all organisations')
    .option('--json', 'print a JSON array')
    .addHelpText('after', examples('cairn org list', 'cairn org list --json'))
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const { data } = settingsOf(command, 'data')
      requireData(data)
      const all = await operated(data, allOrganisations)
      if (json) return printJson(all.map(told))
      printTable(
        ['slug', 'id', 'name', 'created'],
        all.map(({ slug, id, name, createdAt }) => [slug, id, name, createdAt]),
        'there is no organisation yet: make one, "cairn org create NAME"',
      )
    })
}

function limitIn(bucket: string, text: string): number | null {
  if (text === 'default') return null
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= largestLimit) return limit
  throw new UsageFailure(
    `--${bucket} "${text.slice(0, 20)}": set a whole number from 1 to ${largestLimit}, or "default"`,
  )
}

function addLimits(org: Command): void {
  const command = addUrl(addSettings(org.command('limits'), ['data']))
    .description('show or set how many requests an organisation may send in a minute')
    .argument('[org]', 'id or slug; may be left out where there is only one')
  for (const bucket of buckets) {
    const about = `requests a minute, or "default" (${defaultLimits[bucket]})`
    command.addOption(new Option(`--${bucket} <n>`, about))
  }
  command
    .option('--json', 'print {id, slug, limits, overrides} as JSON')
    .addHelpText(
      'after',
      examples('cairn org limits harbor', 'cairn org limits harbor --events 1200 --export default'),
    )
    .action(async (name: string | undefined, options: Record<string, string>, self: Command) => {
      const asked = buckets.filter(bucket => options[bucket] !== undefined)
      const changes = Object.fromEntries(
        asked.map(bucket => [bucket, limitIn(bucket, options[bucket] ?? '')]),
      )
      const { id, slug, limits, overrides } = await managedOrg(self, name, ({ ask }) =>
        asked.length === 0
          ? ask<Settings>('GET /settings')
          : ask<Settings>('PATCH /settings', { body: { limits: changes } }),
      )
      if (options.json) return printJson({ id, slug, limits, overrides })
      printTable(
        ['bucket', 'limit', ''],
        buckets.map(bucket => [
          bucket,
          String(limits[bucket]),
          bucket in overrides ? `set; the default is ${defaultLimits[bucket]}` : 'default',
        ]),
        '',
      )
    })
}

/** Tells of all that are wrong, with their values, by the same rule as the API. */
function checkOrigins(origins: readonly string[]): void {
  const wrong = origins.flatMap(origin => {
    const read = readOrigin(origin)
    if ('origin' in read) return []
    const instead = read.instead === undefined ? '' : `: write ${read.instead}`
    return `"${origin.slice(0, 100)}" is no origin: ${read.fault}${instead}`
  })
  if (wrong.length === 0) return
  const header =
    wrong.length === 1 ? [] : [`nothing was changed: ${wrong.length} origins are wrong`]
  throw new CommandFailure([...header, ...wrong].join('\n'))
}

function addOrigins(org: Command): void {
  addUrl(addSettings(org.command('origins'), ['data']))
    .description('show or set the origins that an organisation runs its snippet on')
    .argument('[org]', 'id or slug; may be left out where there is only one')
    .argument('[origin...]', 'all origins of the list, in place of those before')
    .option('--any', 'empty the list, so that the snippet runs on every origin')
    .option('--json', 'print {id, slug, origins} as JSON')
    .addHelpText(
      'after',
      examples(
        'cairn org origins harbor',
        'cairn org origins harbor https://app.harbor.example http://localhost:3000',
        'cairn org origins harbor --any',
      ),
    )
    .action(
      async (
        name: string | undefined,
        origins: string[],
        options: { any?: boolean; json?: boolean },
        command: Command,
      ) => {
        if (options.any && origins.length > 0) {
          throw new UsageFailure('give origins or --any, not both')
        }
        checkOrigins(origins)
        const { id, slug, ...settings } = await managedOrg(command, name, ({ ask }) =>
          options.any || origins.length > 0
            ? ask<Settings>('PATCH /settings', { body: { origins } })
            : ask<Settings>('GET /settings'),
        )
        const list = settings.origins
        if (options.json) return printJson({ id, slug, origins: list })
        print(...(list.length > 0 ? list : ['any origin']))
      },
    )
}
