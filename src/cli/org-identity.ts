import type { Database } from 'bun:sqlite'
import { type Command, Option } from 'commander'
import { isoTime, isoTimeOrNull } from '../core/clock.ts'
import { hourMs } from '../core/durations.ts'
import { type IdentityMode, identityModes, refusedShare } from '../core/verified-identity.ts'
import { type IdentityHour, identityHours, summedHours } from '../storage/identity-counts.ts'
import {
  type IdentityRecord,
  identityOf,
  rotateIdentitySecret,
  setIdentityMode,
} from '../storage/identity-secrets.ts'
import type { OrganisationRecord } from '../storage/organisations.ts'
import { changeData, organisationNamed, withData, writtenDown } from './data.ts'
import { examples } from './examples.ts'
import { UsageFailure, warn } from './failure.ts'
import { coverageOf, nextStep } from './identity-advice.ts'
import { columns, print, printJson } from './output.ts'
import { addSettings, settingsOf } from './settings.ts'

interface Options {
  mode?: IdentityMode
  rotateSecret?: boolean
  now?: boolean
  showSecret?: boolean
  json?: boolean
}

/** `cairn org identity`: whether user ids are verified, by which secrets, and how many calls have the right hash. */
export function addIdentity(org: Command): void {
  const modes =
    'off; observe: count hashes and refuse nothing; enforce: refuse wrong and missing ones'
  addSettings(org.command('identity'), ['data', 'keyGraceHours'])
    .description(
      'show or set whether calls that name a user must prove it by a hash of your back end',
    )
    .argument('[org]', 'id or slug; may be left out where there is only one')
    .addOption(new Option('--mode <mode>', modes).choices(identityModes))
    .option('--rotate-secret', 'make a new secret; the one before still works for the grace time')
    .option('--now', 'with --rotate-secret: refuse hashes of every older secret at once')
    .option('--show-secret', 'print the secrets that work')
    .option('--json', 'print {id, slug, mode, secrets, last24h, hours, next} as JSON')
    .addHelpText(
      'after',
      `${examples(
        'cairn org identity harbor',
        'cairn org identity harbor --mode observe',
        'cairn org identity harbor --mode enforce',
        'cairn org identity harbor --rotate-secret',
      )}

The hash is HMAC-SHA256 of the user id in lower-case hex; its key is the
secret's text. Your back end makes it, and every call that names a userId
carries it as userHash, those of your back end too. The secrets are stored in
the database as they are: backups hold them.`,
    )
    .action(async (name: string | undefined, options: Options, command: Command) => {
      const { data, keyGraceHours } = settingsOf(command, 'data', 'keyGraceHours')
      if (options.now && !options.rotateSecret) {
        throw new UsageFailure('--now goes with --rotate-secret')
      }
      const graceMs = options.now ? 0 : keyGraceHours * hourMs
      const how = 'as the first argument, "cairn org identity ORG"'
      const organisation = await withData(data, async database => {
        const found = organisationNamed(database, name, how)
        await writtenDown(database, data)
        return found
      })
      const look = (database: Database) => lookAt(database, organisation, Date.now())
      const before = await withData(data, look)
      const isChange = options.mode !== undefined || options.rotateSecret
      const after = isChange
        ? await changeData(data, database => {
            change(database, organisation.row, options, graceMs)
            return look(database)
          })
        : before
      if (options.mode === 'enforce') warnOfRefusals(after)
      if (options.rotateSecret && graceMs === 0 && after.mode === 'enforce') {
        warn('every hash of before is refused from now on: give back ends the new secret')
      }
      show(after, { ...options, isNew: before.secrets[0]?.secret !== after.secrets[0]?.secret })
    })
}

/** All that the command tells. */
interface Look extends IdentityRecord {
  organisation: OrganisationRecord
  hours: IdentityHour[]
}

function lookAt(database: Database, organisation: OrganisationRecord, now: number): Look {
  const { row } = organisation
  return {
    organisation,
    ...identityOf(database, row, now),
    hours: identityHours(database)(row, now),
  }
}

/** The secret first: a mode that needs one would make another. */
function change(
  database: Database,
  orgRow: number,
  { mode, rotateSecret }: Options,
  graceMs: number,
): void {
  const now = Date.now()
  if (rotateSecret) rotateIdentitySecret(database, orgRow, { now, graceMs })
  if (mode !== undefined) setIdentityMode(database, orgRow, mode, now)
}

/** What observing has shown, for who did not look first. */
function warnOfRefusals({ organisation, hours }: Look): void {
  const { refused, all } = refusedShare(summedHours(hours))
  const back = `"cairn org identity ${organisation.slug} --mode observe" goes back`
  if (all === 0) warn(`no call with a userId was counted in 24 hours, so nobody knows yet: ${back}`)
  else if (refused > 0) {
    warn(`of ${all} calls and events in 24 hours ${refused} would have been refused: ${back}`)
  }
}

function show(look: Look, { json, showSecret, isNew }: Options & { isNew: boolean }): void {
  const { organisation, mode, secrets, hours } = look
  const { id, slug } = organisation
  const sums = summedHours(hours)
  const next = nextStep(slug, look, sums)
  const isTold = (place: number) => showSecret || (isNew && place === 0)
  if (json) {
    printJson({
      id,
      slug,
      mode,
      secrets: secrets.map(({ secret, createdAt, retiredAt }, place) => ({
        createdAt: isoTime(createdAt),
        worksUntil: isoTimeOrNull(retiredAt),
        ...(isTold(place) && { secret }),
      })),
      last24h: { ...sums, coverage: coverageOf(sums) },
      hours: hours.map(({ at, ...counts }) => ({ at: isoTime(at), ...counts })),
      next,
    })
    return
  }
  print(
    `${slug}: ${mode}, ${meanings[mode]}`,
    ...secretLines(secrets, isTold),
    '',
    ...coverageLines(hours),
    '',
    `next: ${next}`,
  )
}

const meanings: Record<IdentityMode, string> = {
  off: 'hashes are not looked at',
  observe: 'hashes are counted, and nothing is refused',
  enforce: 'calls that name a userId without the right hash are refused',
}

function secretLines(
  secrets: IdentityRecord['secrets'],
  isTold: (place: number) => boolean,
): string[] {
  const lines = secrets.map(({ secret, createdAt, retiredAt }, place) => {
    const until = retiredAt === null ? 'current' : `works until ${isoTime(retiredAt)}`
    const text = isTold(place) ? secret : '(--show-secret prints it)'
    return ['secret', `made ${isoTime(createdAt)}`, until, text]
  })
  return lines.length === 0 ? [] : columns(lines)
}

function coverageLines(hours: readonly IdentityHour[]): string[] {
  if (hours.length === 0) return ['no call with a userId was counted in the last 24 hours']
  const sums = summedHours(hours)
  const cellsOf = (label: string, counts: typeof sums) => [
    label,
    ...[counts.valid, counts.outdated, counts.invalid, counts.missing].map(String),
    `${((coverageOf(counts) ?? 0) * 100).toFixed(1)} %`,
  ]
  return columns([
    ['HOUR (UTC)', 'VALID', 'OLD SECRET', 'INVALID', 'MISSING', 'COVERAGE'],
    ...hours.map(hour => cellsOf(isoTime(hour.at).slice(0, 16).replace('T', ' '), hour)),
    cellsOf('24 hours', sums),
  ])
}
