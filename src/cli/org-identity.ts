import { Option } from 'commander'
import {
  type IdentityMode,
  identityModes,
  refusedShare,
  type UserHashCounts,
} from '../core/organisation/verified-identity.ts'
import type { IdentityAnswer } from '../modules/organisations/model.ts'
import type { Command, Flags } from './command.ts'
import { UsageFailure, warn } from './failure.ts'
import { type Manager, managedOrg, orgCommand } from './manage.ts'
import { columns, print, printJson } from './output.ts'
import { settingsOf } from './settings.ts'

type Options = Flags<never, 'rotateSecret' | 'now' | 'showSecret' | 'json'> & {
  mode?: IdentityMode
}

/**
 * `cairn org identity`: whether user ids are verified, with which secrets, and how many calls have the right
 * hash.
 */
export function addIdentity(org: Command): void {
  const modes =
    'off; observe: count hashes and refuse nothing; enforce: refuse wrong and missing ones'
  orgCommand(org, 'identity', 'keyGraceHours')
    .description('show or set whether calls that name a user need a hash from your back end')
    .addOption(new Option('--mode <mode>', modes).choices(identityModes))
    .option('--rotate-secret', 'make a new secret; the one before still works for the grace time')
    .option('--now', 'with --rotate-secret: refuse hashes of every older secret at once')
    .option('--show-secret', 'print the secrets that work')
    .option('--json', 'print {id, slug, mode, secrets, last24h, hours, next} as JSON')
    .examples(
      'cairn org identity harbor',
      'cairn org identity harbor --mode observe',
      'cairn org identity harbor --mode enforce',
      'cairn org identity harbor --rotate-secret',
    )
    .notes(`The hash is HMAC-SHA256 of the user id in lower-case hex; its key is the
secret's text. Your back end makes it, and every call that names a userId
carries it as userHash, also calls from your back end. The secrets are stored in
the database in plain text: backups contain them.`)
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

/** Everything that the command reports. */
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

/** The secret is made first, because a mode that needs one would make another. */
async function change(
  { ask }: Manager,
  { mode, rotateSecret }: Options,
  graceHours: number,
): Promise<void> {
  if (rotateSecret) await ask('POST /identity/rotate', { body: { graceHours } })
  if (mode !== undefined) await ask('PATCH /settings', { body: { identityMode: mode } })
}

/** Reports what observing has shown, for users who did not look first. */
function warnOfRefusals({ slug, last24h }: Look): void {
  const { refused, all } = refusedShare(last24h)
  const back = `"cairn org identity ${slug} --mode observe" goes back`
  if (all === 0)
    warn(`no call with a userId was counted in 24 hours, so the effect is unknown: ${back}`)
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
      last24h: { ...last24h, coverage: coverageOf(last24h, 4) },
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
  observe: 'hashes are counted, nothing is refused',
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
    `${((coverageOf(counts, 3) ?? 0) * 100).toFixed(1)} %`,
  ]
  return columns([
    ['HOUR (UTC)', 'VALID', 'OLD SECRET', 'INVALID', 'MISSING', 'COVERAGE'],
    ...hours.map(hour => cellsOf(hour.at.slice(0, 16).replace('T', ' '), hour)),
    cellsOf('24 hours', last24h),
  ])
}

/** The share of calls and events with a right hash; null if there were none. */
function coverageOf(counts: UserHashCounts, decimals: number): number | null {
  const { refused, all } = refusedShare(counts)
  const scale = 10 ** decimals
  // Rounded down, so that 1 means all of them.
  return all === 0 ? null : Math.floor((scale * (all - refused)) / all) / scale
}

/** What to do about calls that are refused, or would be. */
function remedyOf({ invalid, missing }: UserHashCounts): string {
  const remedies = [
    missing > 0 &&
      `${missing} had no userHash: give it to cairn.identify(userId, traits, userHash) on every page, and send it from back ends too`,
    invalid > 0 &&
      `${invalid} had a wrong one: lower-case hex of HMAC-SHA256, with the secret as the key, of exactly the userId that is sent`,
  ]
  return remedies.filter(Boolean).join('; ')
}

/** What to do next about an organisation's verified identity, in one sentence. */
function nextStep(slug: string, { mode, secrets }: IdentityAnswer, counts: UserHashCounts) {
  const command = (rest: string) => `"cairn org identity ${slug} ${rest}"`
  const { refused, all } = refusedShare(counts)
  const [, before] = secrets
  if (mode === 'off') return `count hashes before you require them: ${command('--mode observe')}`
  if (refused > 0) {
    const consequence = mode === 'enforce' ? 'refused now' : 'which would be refused'
    const back =
      mode === 'enforce' ? `; ${command('--mode observe')} refuses nothing meanwhile` : ''
    return `of ${all} calls and events ${refused} had no right hash, ${consequence}: ${remedyOf(counts)}${back}`
  }
  if (before && counts.outdated > 0) {
    return `${counts.outdated} hashes were made with the old secret, which works until ${before.worksUntil}: give every back end the current one`
  }
  if (all === 0) {
    return 'have your back end make hashes with the secret, and pages pass them to cairn.identify(userId, traits, userHash); then check here again'
  }
  return mode === 'observe'
    ? `all of ${all} had a right hash: once that covers a usual day, ${command('--mode enforce')}`
    : 'there is nothing to do'
}
