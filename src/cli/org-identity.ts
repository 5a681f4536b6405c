import { type Command, Option } from 'commander'
import {
  type IdentityMode,
  identityModes,
  refusedShare,
  type UserHashCounts,
} from '../core/organisation/verified-identity.ts'
import type { IdentityAnswer } from '../modules/organisations/model.ts'
import { examples } from './examples.ts'
import { UsageFailure, warn } from './failure.ts'
import { coverageOf, nextStep } from './identity-advice.ts'
import { addUrl, type Manager, managedOrg } from './manage.ts'
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
  addUrl(addSettings(org.command('identity'), ['data', 'keyGraceHours']))
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
      const { keyGraceHours } = settingsOf(command, 'keyGraceHours')
      if (options.now && !options.rotateSecret) {
        throw new UsageFailure('--now goes with --rotate-secret')
      }
      const graceHours = options.now ? 0 : keyGraceHours
      const look = await managedOrg(command, name, async manager => {
        const before = await lookAt(manager, options.showSecret)
        const isChange = options.mode !== undefined || options.rotateSecret
        if (!isChange) return { ...before, isNew: false }
        await change(manager, options, graceHours)
        const isNew = options.rotateSecret || before.secrets.length === 0
        return { ...(await lookAt(manager, options.showSecret || isNew)), isNew }
      })
      if (options.mode === 'enforce') warnOfRefusals(look)
      if (options.rotateSecret && graceHours === 0 && look.mode === 'enforce') {
        warn('every hash of before is refused from now on: give back ends the new secret')
      }
      show(look, options)
    })
}

/** All that the command tells. */
interface Look extends IdentityAnswer {
  id: string
  slug: string
}

async function lookAt(
  { ask, id, organisation: slug }: Manager,
  withSecrets = false,
): Promise<Look> {
  const answer = await ask<IdentityAnswer>(`GET /identity${withSecrets ? '?secrets=shown' : ''}`)
  return { id, slug, ...answer }
}

/** The secret first: a mode that needs one would make another. */
async function change(
  { ask }: Manager,
  { mode, rotateSecret }: Options,
  graceHours: number,
): Promise<void> {
  if (rotateSecret) await ask('POST /identity/rotate', { body: { graceHours } })
  if (mode !== undefined) await ask('PATCH /settings', { body: { identityMode: mode } })
}

/** What observing has shown, for who did not look first. */
function warnOfRefusals({ slug, last24h }: Look): void {
  const { refused, all } = refusedShare(last24h)
  const back = `"cairn org identity ${slug} --mode observe" goes back`
  if (all === 0) warn(`no call with a userId was counted in 24 hours, so nobody knows yet: ${back}`)
  else if (refused > 0) {
    warn(`of ${all} calls and events in 24 hours ${refused} would have been refused: ${back}`)
  }
}

function show(look: Look & { isNew: boolean }, { json, showSecret }: Options): void {
  const { id, slug, mode, secrets, last24h, hours, isNew } = look
  const next = nextStep(slug, look, last24h)
  const isTold = (place: number) => showSecret || (isNew && place === 0)
  if (json) {
    printJson({
      id,
      slug,
      mode,
      secrets: secrets.map(({ secret, ...told }, place) => ({
        ...told,
        ...(isTold(place) && { secret }),
      })),
      last24h: { ...last24h, coverage: coverageOf(last24h) },
      hours,
      next,
    })
    return
  }
  print(
    `${slug}: ${mode}, ${meanings[mode]}`,
    ...secretLines(secrets, isTold),
    '',
    ...coverageLines(look),
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
  secrets: IdentityAnswer['secrets'],
  isTold: (place: number) => boolean | undefined,
): string[] {
  const lines = secrets.map(({ secret = '', createdAt, worksUntil }, place) => {
    const until = worksUntil === null ? 'current' : `works until ${worksUntil}`
    const text = isTold(place) ? secret : '(--show-secret prints it)'
    return ['secret', `made ${createdAt}`, until, text]
  })
  return lines.length === 0 ? [] : columns(lines)
}

function coverageLines({ hours, last24h }: IdentityAnswer): string[] {
  if (hours.length === 0) return ['no call with a userId was counted in the last 24 hours']
  const cellsOf = (label: string, counts: UserHashCounts) => [
    label,
    ...[counts.valid, counts.outdated, counts.invalid, counts.missing].map(String),
    `${((coverageOf(counts) ?? 0) * 100).toFixed(1)} %`,
  ]
  return columns([
    ['HOUR (UTC)', 'VALID', 'OLD SECRET', 'INVALID', 'MISSING', 'COVERAGE'],
    ...hours.map(hour => cellsOf(hour.at.slice(0, 16).replace('T', ' '), hour)),
    cellsOf('24 hours', last24h),
  ])
}
