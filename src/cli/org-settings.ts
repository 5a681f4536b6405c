import { Option } from 'commander'
import { mayNameSomebody, traitFault } from '../core/event/traits.ts'
import { buckets, defaultLimits, largestLimit } from '../core/organisation/buckets.ts'
import { longestRetentionDays } from '../core/organisation/catalogue.ts'
import { readOrigin } from '../core/organisation/origin.ts'
import { shown } from '../core/text/wording.ts'
import { isoTime } from '../core/time/clock.ts'
import { dayMs } from '../core/time/durations.ts'
import { wrongZone, zoneNamed } from '../core/time/time-range.ts'
import type { Settings } from '../modules/organisations/model.ts'
import type { Command, Flags } from './command.ts'
import { CommandFailure, UsageFailure, warn } from './failure.ts'
import { managedOrg, orgCommand } from './manage.ts'
import { counted, print, printJson, printTable } from './output.ts'

/** The settings after a change, or as they are if none is asked for. */
export const settingsAfter = (command: Command, org: string | undefined, change: object | null) =>
  managedOrg(command, org, ({ ask }) =>
    change === null
      ? ask<Settings>('GET /settings')
      : ask<Settings>('PATCH /settings', { body: change }),
  )

function limitIn(bucket: string, text: string): number | null {
  if (text === 'default') return null
  return countIn(`--${bucket}`, text, largestLimit, ', or "default"')
}

/** A count that an option gives. @param orElse what it may be other than a number, for the error */
export function countIn(option: string, text: string, most: number, orElse = ''): number {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (count >= 1 && count <= most) return count
  const given = `${option} "${text.slice(0, 20)}"`
  throw new UsageFailure(`${given}: set a whole number from 1 to ${most}${orElse}`)
}

export function addLimits(org: Command): void {
  const command = orgCommand(org, 'limits').description(
    'show or set how many requests an organisation may send per minute',
  )
  for (const bucket of buckets) {
    const about = `requests per minute, or "default" (${defaultLimits[bucket]})`
    command.addOption(new Option(`--${bucket} <n>`, about))
  }
  command
    .option('--json', 'print {id, slug, limits, overrides} as JSON')
    .examples('cairn org limits harbor', 'cairn org limits harbor --events 1200 --export default')
    .action(async (name: string | undefined, options: Record<string, string>, self: Command) => {
      const asked = buckets.filter(bucket => options[bucket] !== undefined)
      const changes = Object.fromEntries(
        asked.map(bucket => [bucket, limitIn(bucket, options[bucket] ?? '')]),
      )
      const change = asked.length === 0 ? null : { limits: changes }
      const { id, slug, limits, overrides } = await settingsAfter(self, name, change)
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

/** Reports all origins that are wrong, with their values, by the same rule as the API. */
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

export function addOrigins(org: Command): void {
  orgCommand(org, 'origins')
    .description('show or set the origins that an organisation runs its snippet on')
    .argument('[origin...]', 'the whole list of origins, replacing the old one')
    .option('--any', 'empty the list, so that the snippet runs on every origin')
    .option('--json', 'print {id, slug, origins} as JSON')
    .examples(
      'cairn org origins harbor',
      'cairn org origins harbor https://app.harbor.example http://localhost:3000',
      'cairn org origins harbor --any',
    )
    .action(async (name: string | undefined, origins: string[], options: Any, command: Command) => {
      if (options.any && origins.length > 0) {
        throw new UsageFailure('give origins or --any, not both')
      }
      checkOrigins(origins)
      const change = options.any || origins.length > 0 ? { origins } : null
      const { id, slug, origins: list } = await settingsAfter(command, name, change)
      if (options.json) return printJson({ id, slug, origins: list })
      print(...(list.length > 0 ? list : ['any origin']))
    })
}

type Any = Flags<never, 'any' | 'json'>

export function addPrivacy(org: Command): void {
  orgCommand(org, 'privacy')
    .description('show or set whether Do Not Track is honoured')
    .addOption(
      new Option(
        '--do-not-track <how>',
        'what to do with "Do Not Track" and Global Privacy Control',
      ).choices(['honour', 'ignore']),
    )
    .option('--json', 'print {id, slug, honoursDoNotTrack} as JSON')
    .examples('cairn org privacy harbor', 'cairn org privacy harbor --do-not-track honour')
    .notes(`If it is honoured, people who ask not to be tracked see flows like everybody
else, but nothing is reported about them or stored in their browser, unless your
page has their consent and says so: cairn.consent(true).`)
    .action(async (name: string | undefined, { doNotTrack, json }: DoNotTrack, self: Command) => {
      const change =
        doNotTrack === undefined ? null : { honoursDoNotTrack: doNotTrack === 'honour' }
      const { id, slug, honoursDoNotTrack } = await settingsAfter(self, name, change)
      if (json) printJson({ id, slug, honoursDoNotTrack })
      else print(`do not track  ${honoursDoNotTrack ? 'honour' : 'ignore (the default)'}`)
    })
}

type DoNotTrack = Flags<'doNotTrack', 'json'>

export function addTraits(org: Command): void {
  orgCommand(org, 'traits')
    .description('show or set the traits that runs can be segmented by')
    .argument('[trait...]', 'the whole list of traits, replacing the old one; at most eight')
    .option('--none', 'empty the list, so that no trait leaves a browser')
    .option('--json', 'print {id, slug, traits} as JSON')
    .examples(
      'cairn org traits harbor',
      'cairn org traits harbor plan company.size',
      'cairn org traits harbor --none',
    )
    .notes(`Once a trait is listed, Cairn keeps its value from cairn.identify() when a
person starts a flow, as text of at most 64 characters: for "completion by
plan". All other traits stay in the browser. Do not list traits that identify
people, such as an e-mail address.`)
    .action(async (name: string | undefined, traits: string[], options: None, self: Command) => {
      if (options.none && traits.length > 0)
        throw new UsageFailure('give traits or --none, not both')
      for (const trait of traits) {
        const fault = traitFault(trait)
        if (fault) throw new CommandFailure(`"${trait.slice(0, 100)}": ${fault}`)
      }
      const change = options.none || traits.length > 0 ? { traits } : null
      const { id, slug, traits: list } = await settingsAfter(self, name, change)
      const added = change ? list : []
      if (added.some(mayNameSomebody)) {
        warn('a trait that says who somebody is makes personal data of every run')
      }
      if (options.json) return printJson({ id, slug, traits: list })
      print(...(list.length > 0 ? list : ['none']))
    })
}

type None = Flags<never, 'none' | 'json'>

export function addRetention(org: Command): void {
  orgCommand(org, 'retention')
    .description("show or set how many days an organisation's raw events are accepted and kept")
    .option('--days <n>', 'days; raw events received earlier are deleted permanently')
    .option('--default', "use the server's CAIRN_RETENTION_DAYS")
    .option('--json', 'print {id, slug, retentionDays} as JSON, null for the default')
    .examples(
      'cairn org retention harbor',
      'cairn org retention harbor --days 30',
      'cairn org retention harbor --default',
    )
    .notes(`This deletes raw events (rows=events of the export), health reports,
fingerprints that are not a baseline, and dead letters. Analytics, runs,
checklists and completions stay, for any range.`)
    .action(async (name: string | undefined, options: Retention, command: Command) => {
      const days = daysIn(options)
      const change = days === undefined ? null : { retentionDays: days }
      const { id, slug, retentionDays } = await settingsAfter(command, name, change)
      if (typeof days === 'number') {
        const before = isoTime(Date.now() - days * dayMs)
        warn(`raw events received before ${before} will be deleted permanently`)
      }
      const byServer = 'as long as the server is told (CAIRN_RETENTION_DAYS)'
      if (options.json) printJson({ id, slug, retentionDays })
      else print(retentionDays === null ? byServer : counted(retentionDays, 'day'))
    })
}

export function addTimezone(org: Command): void {
  orgCommand(org, 'timezone')
    .description('show or set the time zone of days in the dashboard')
    .argument('[zone]', 'its IANA name, such as Europe/Berlin')
    .option('--browser', "the zone of each dashboard user's browser (the default)")
    .option('--json', "print {id, slug, timezone} as JSON, null for the browser's")
    .examples(
      'cairn org timezone harbor',
      'cairn org timezone harbor Europe/Berlin',
      'cairn org timezone harbor --browser',
    )
    .notes(`An address that names a zone ("tz") is shown in that one. The API's own default
stays UTC.`)
    .action(async (name: string | undefined, zone: string | undefined, ...rest: unknown[]) => {
      const [{ browser, json }, command] = rest as [Flags<never, 'browser' | 'json'>, Command]
      if (browser && zone !== undefined)
        throw new UsageFailure('give a zone or --browser, not both')
      if (zone !== undefined && zoneNamed(zone) === null) {
        throw new UsageFailure(`"${shown(zone.slice(0, 64))}": ${wrongZone.replace(/^M/, 'm')}`)
      }
      const change = browser ? { timezone: null } : zone === undefined ? null : { timezone: zone }
      const { id, slug, timezone } = await settingsAfter(command, name, change)
      if (json) printJson({ id, slug, timezone })
      else print(timezone ?? "the browser's (the default)")
    })
}

type Retention = Flags<'days', 'default' | 'json'>

/** Undefined if nothing is to be set, null for the server's setting. */
function daysIn({ days, default: isDefault }: Retention): number | null | undefined {
  if (days === undefined) return isDefault ? null : undefined
  if (isDefault) throw new UsageFailure('give --days or --default, not both')
  return countIn('--days', days, longestRetentionDays)
}
