import type { Database } from 'bun:sqlite'
import { type Command, Option } from 'commander'
import { type Bucket, buckets, defaultLimits, largestLimit } from '../core/buckets.ts'
import { isoTime } from '../core/clock.ts'
import {
  checkedOrigin,
  createOrganisation,
  listOrganisations,
  type OrganisationRecord,
  setLimits,
  setOrigins,
} from '../storage/organisations.ts'
import { changeData, organisationNamed, withData } from './data.ts'
import { examples } from './examples.ts'
import { CommandFailure, explained, UsageFailure } from './failure.ts'
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
      const create = { name, ...(options.slug === undefined ? {} : { slug: options.slug }) }
      const { organisation, snippetKey } = await changeData(
        data,
        database => createOrganisation(database, create, Date.now()),
        { create: true },
      )
      const { id, slug } = organisation
      if (options.json) return printJson({ id, slug, snippetKey })
      print(
        `organisation  ${organisation.name}`,
        `id            ${id}`,
        `slug          ${slug}`,
        `snippet key   ${snippetKey}`,
      )
    })
}

const shown = (organisation: OrganisationRecord) => {
  const { id, slug, name, limits, origins, retentionDays, honoursDoNotTrack, createdAt } =
    organisation
  return {
    id,
    slug,
    name,
    limits,
    origins,
    retentionDays,
    honoursDoNotTrack,
    createdAt: isoTime(createdAt),
  }
}

function addList(org: Command): void {
  addSettings(org.command('list'), ['data'])
    .description('list all organisations')
    .option('--json', 'print a JSON array')
    .addHelpText('after', examples('cairn org list', 'cairn org list --json'))
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const { data } = settingsOf(command, 'data')
      const all = await withData(data, listOrganisations)
      if (json) return printJson(all.map(shown))
      printTable(
        ['slug', 'id', 'name', 'created'],
        all.map(({ slug, id, name, createdAt }) => [slug, id, name, isoTime(createdAt)]),
        'there is no organisation yet: make one, "cairn org create NAME"',
      )
    })
}

/** These commands take the organisation as their first argument, as `create` takes its name. */
const named = (database: Database, name: string | undefined, verb: string) =>
  organisationNamed(database, name, `as the first argument, "cairn org ${verb} ORG"`)

function limitIn(bucket: string, text: string): number | null {
  if (text === 'default') return null
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= largestLimit) return limit
  throw new UsageFailure(
    `--${bucket} "${text.slice(0, 20)}": set a whole number from 1 to ${largestLimit}, or "default"`,
  )
}

function addLimits(org: Command): void {
  const command = addSettings(org.command('limits'), ['data'])
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
      const { data } = settingsOf(self, 'data')
      const asked = buckets.filter(bucket => options[bucket] !== undefined)
      const changes: Partial<Record<Bucket, number | null>> = Object.fromEntries(
        asked.map(bucket => [bucket, limitIn(bucket, options[bucket] ?? '')]),
      )
      const organisation =
        asked.length === 0
          ? await withData(data, database => named(database, name, 'limits'))
          : await changeData(data, database =>
              setLimits(database, named(database, name, 'limits').row, changes),
            )
      const { id, slug, limits, overrides } = organisation
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

/** Tells of all that are wrong, where storing them would stop at the first. */
function checkOrigins(origins: readonly string[]): void {
  const wrong = origins.flatMap(origin => {
    try {
      checkedOrigin(origin)
      return []
    } catch (error) {
      return [explained(error).lines.join(' ')]
    }
  })
  if (wrong.length === 0) return
  const header =
    wrong.length === 1 ? [] : [`nothing was changed: ${wrong.length} origins are wrong`]
  throw new CommandFailure([...header, ...wrong].join('\n'))
}

function addOrigins(org: Command): void {
  addSettings(org.command('origins'), ['data'])
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
        const { data } = settingsOf(command, 'data')
        if (options.any && origins.length > 0) {
          throw new UsageFailure('give origins or --any, not both')
        }
        checkOrigins(origins)
        const organisation =
          options.any || origins.length > 0
            ? await changeData(data, database =>
                setOrigins(database, named(database, name, 'origins').row, origins),
              )
            : await withData(data, database => named(database, name, 'origins'))
        const { id, slug, origins: list } = organisation
        if (options.json) return printJson({ id, slug, origins: list })
        print(...(list.length > 0 ? list : ['any origin']))
      },
    )
}
