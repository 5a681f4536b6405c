import { longestSlug, slugFrom } from '../core/text/slug.ts'
import { shown } from '../core/text/wording.ts'
import { isFullHour, lasting, minuteMs } from '../core/time/durations.ts'
import type { Installation } from '../modules/installation/model.ts'
import type { Settings } from '../modules/organisations/model.ts'
import { nameFault, slugFault } from '../modules/organisations/rules.ts'
import type { Command, Flags } from './command.ts'
import { makeData } from './data.ts'
import { CommandFailure, exitStatus } from './failure.ts'
import { addUrl, allOrganisations, managedOrg, operated, orgCommand, placeOf } from './manage.ts'
import { addEnvironments } from './org-environments.ts'
import { addIdentity } from './org-identity.ts'
import {
  addLimits,
  addOrigins,
  addPrivacy,
  addRetention,
  addTimezone,
  addTraits,
  settingsAfter,
} from './org-settings.ts'
import { addTheme } from './org-theme.ts'
import { addThrottle } from './org-throttle.ts'
import { columns, print, printJson, printTable } from './output.ts'
import { addSettings, settingsOf } from './settings.ts'

export function addOrg(cairn: Command): void {
  const org = cairn
    .command('org')
    .description('organisations, which own flows, keys and limits')
    .examples('cairn org create "Harbor Inc"', 'cairn org list')
  addCreate(org)
  addList(org)
  addRename(org)
  addLimits(org)
  addOrigins(org)
  addPrivacy(org)
  addTraits(org)
  addRetention(org)
  addTimezone(org)
  addTheme(org)
  addThrottle(org)
  addIdentity(org)
  addEnvironments(org)
  addStatus(org)
}

function addCreate(org: Command): void {
  addSettings(org.command('create'), ['data'])
    .description('make an organisation with its snippet key')
    .argument('<name>', 'its name')
    .option('--slug <slug>', 'short name, a-z 0-9 and "-"; made from the name by default')
    .option(
      '--staging-of <org>',
      'link it as staging: flows are tried in it and promoted to that one',
    )
    .option('--json', 'print {id, slug, snippetKey} as JSON')
    .examples(
      'cairn org create "Harbor Inc"',
      'cairn org create "Harbor Inc" --slug harbor --json',
      'cairn org create "Harbor staging" --staging-of harbor',
    )
    .action(
      async (name: string, options: Flags<'slug' | 'stagingOf', 'json'>, command: Command) => {
        const place = settingsOf(command, 'data', 'databaseUrl')
        requireNameable(name, options.slug)
        makeData(place)
        const { slug: asked, stagingOf } = options
        const body = {
          name,
          ...(asked !== undefined && { slug: asked }),
          ...(stagingOf !== undefined && { stagingOf }),
        }
        const made = await operated(place, ({ ask }) =>
          ask<Created>('POST /organisations', { body }),
        )
        const { id, slug, snippetKey } = made
        if (options.json) return printJson({ id, slug, snippetKey })
        print(
          `organisation  ${made.name}`,
          `id            ${id}`,
          `slug          ${slug}`,
          `snippet key   ${snippetKey}`,
          ...(stagingOf === undefined ? [] : [`staging of    ${stagingOf}`]),
        )
      },
    )
}

type Created = Record<'id' | 'slug' | 'name' | 'snippetKey', string>

/** Checks by the same rules as the API, with the value and the option in the message. */
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
  const { id, slug, name, limits, origins, retentionDays, honoursDoNotTrack, traits, createdAt } =
    settings
  return { id, slug, name, limits, origins, retentionDays, honoursDoNotTrack, traits, createdAt }
}

function addList(org: Command): void {
  addSettings(org.command('list'), ['data'])
    .description('list all organisations')
    .option('--json', 'print a JSON array')
    .examples('cairn org list', 'cairn org list --json')
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const all = await operated(placeOf(command), allOrganisations)
      if (json) return printJson(all.map(told))
      printTable(
        ['slug', 'id', 'name', 'created'],
        all.map(({ slug, id, name, createdAt }) => [slug, id, name, createdAt]),
        'there are no organisations yet: make one with "cairn org create NAME"',
      )
    })
}

function addRename(org: Command): void {
  addUrl(org.command('rename'))
    .description('give an organisation another name for people; its slug and id stay')
    .argument('<org>', 'id or slug')
    .argument('<name>', 'its new name')
    .option('--json', 'print {id, slug, name} as JSON')
    .examples('cairn org rename harbor "Harbor Group"')
    .action(async (org: string, asked: string, { json }: { json?: boolean }, command: Command) => {
      const fault = nameFault(asked)
      if (fault) throw new CommandFailure(fault)
      const { id, slug, name } = await settingsAfter(command, org, { name: asked })
      if (json) printJson({ id, slug, name })
      else print(name)
    })
}

/** `cairn org status`: the answer of GET /snippet-status, for whoever manages the organisation. */
function addStatus(org: Command): void {
  orgCommand(org, 'status')
    .description(
      'show whether the snippet is installed and active, and any problems; exit status 1 if it is misconfigured',
    )
    .option(
      '--json',
      'print what GET /snippet-status answers, each finding with its since, and {id, slug, erased24h}',
    )
    .examples('cairn org status', 'cairn org status harbor --json')
    .action(async (name: string | undefined, { json }: { json?: boolean }, command: Command) => {
      const { id, slug, status } = await managedOrg(command, name, async manager => ({
        id: manager.id,
        slug: manager.organisation,
        status: await manager.ask<Installation>('GET /install'),
      }))
      if (status.state === 'misconfigured') process.exitCode = exitStatus.failure
      if (json) return printJson({ id, slug, ...status })
      print(...statusLines(slug, status))
    })
}

/** How far senders' clocks are off, from the time of receipt less that of sending. */
function skewIn(ms: number): string {
  if (Math.abs(ms) < minuteMs) return 'under a minute'
  return `${lasting(Math.abs(ms))} ${ms > 0 ? 'behind' : 'ahead'}`
}

function statusLines(slug: string, status: Installation): string[] {
  const { stages, findings, snippetVersion, skewMsMedian, erased24h } = status
  const refused = Object.entries(status.rejected24h).map(([code, count]) => `${code} ${count}`)
  const facts: [string, string][] = [
    // Whatever a page sent as its version; anyone who views a page has the key.
    ['snippet', snippetVersion === null ? '–' : shown(snippetVersion)],
    ['clock skew', skewMsMedian === null ? '–' : skewIn(skewMsMedian)],
    ['refused in 24 h', refused.join(', ') || '–'],
    ['of erased people', erased24h === 0 ? '–' : `${erased24h} in 24 h, not kept`],
  ]
  return [
    `${slug}: ${status.state}, ${status.installed ? 'installed' : 'not installed'}`,
    '',
    ...columns([
      ['STAGE', 'FIRST', 'LAST'],
      ...stages.map(({ stage, firstAt, lastAt }) => [stage, firstAt ?? '–', lastAt ?? '–']),
    ]),
    '',
    ...columns(facts),
    ...findings.flatMap(({ severity, code, message, fix, since }) => [
      '',
      `${severity}: ${code}${since === null ? '' : `, since ${isFullHour(since) ? 'the hour of ' : ''}${since}`}`,
      `  ${message}`,
      `  ${fix}`,
    ]),
    ...(findings.length === 0 ? ['', 'nothing is wrong'] : []),
  ]
}
