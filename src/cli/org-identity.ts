import { refusedShare, type UserHashCounts } from '../core/organisation/verified-identity.ts'
import type { IdentityAnswer, RotatedSecret } from '../modules/organisations/schema.ts'
import type { Command } from './command.ts'
import { warn } from './failure.ts'
import type { Manager } from './manage.ts'
import { print, tell } from './output.ts'
import { addGroup, option, type Row, row } from './table.ts'

const rows: Row[] = [
  row<IdentityAnswer>({
    name: 'show',
    about: 'show whether user ids are verified, and how many calls have the right hash',
    options: [option('--secrets', 'print the secrets that work')],
    route: 'GET /identity',
    query: ({ secrets }) => ({ secrets: secrets && 'shown' }),
    show({ mode, secrets, last24h }) {
      print(`mode: ${mode}`)
      for (const { secret = '(--secrets prints it)', createdAt, worksUntil } of secrets) {
        const until = worksUntil === null ? 'current' : `works until ${worksUntil}`
        print(`secret: ${secret}, created ${createdAt}, ${until}`)
      }
      print(nextStep(mode, last24h), '')
    },
    items: 'hours',
    columns: {
      'hour (UTC)': ({ at }) => at.slice(0, 16).replace('T', ' '),
      valid: 'valid',
      'old secret': 'outdated',
      invalid: 'invalid',
      missing: 'missing',
    },
    none: 'no call with a userId in the last 24 hours',
    examples: ['cairn org identity show', 'cairn org identity show --secrets'],
  }),
  row<RotatedSecret>({
    name: 'rotate',
    about: 'make a new secret; the old one still works for the grace time',
    settings: ['keyGraceHours'],
    options: [option('--now', 'reject hashes of every older secret at once')],
    route: 'POST /identity/rotate',
    body: ({ now, keyGraceHours }) => ({ graceHours: now ? 0 : keyGraceHours }),
    show({ secret, previousUntil }, { now }) {
      print(secret)
      tell(
        now
          ? 'Hashes of the old secret no longer work.'
          : `The old secret works until ${previousUntil}.`,
      )
    },
    examples: ['cairn org identity rotate', 'cairn org identity rotate --now'],
  }),
]

export function addIdentity(org: Command): void {
  addGroup(
    org,
    {
      name: 'identity',
      about: 'verified identity: calls that name a user carry a hash from your back end',
      examples: [
        'cairn org set identityMode observe',
        'cairn org identity show --secrets',
        'cairn org set identityMode enforce',
      ],
      notes: `The hash is HMAC-SHA256 of the user id in lower-case hex; its key is the
secret's text. Your back end makes it, and every call that names a userId
carries it as userHash, also calls from your back end. The secrets are stored in
the database in plain text: backups contain them.`,
    },
    rows,
  )
}

/** What to do next, in one sentence. */
function nextStep(mode: IdentityAnswer['mode'], counts: UserHashCounts): string {
  const { refused, all } = refusedShare(counts)
  const set = (next: string) => `"cairn org set identityMode ${next}"`
  if (mode === 'off') return `next: count hashes before you require them, with ${set('observe')}`
  if (refused > 0) {
    const back = mode === 'enforce' ? `; until then, ${set('observe')} rejects none` : ''
    return `next: ${refused} of ${all} calls and events had no right hash: pass it as userHash wherever a userId is sent${back}`
  }
  if (all === 0) return 'next: have your back end make hashes, and pass them to cairn.identify()'
  return mode === 'enforce'
    ? 'all calls have the right hash'
    : `next: once ${all} calls cover a usual day, ${set('enforce')}`
}

/** Says what enforcing means, by what observing has counted. */
export async function warnBeforeEnforcing({ ask }: Manager): Promise<void> {
  const { last24h } = await ask<IdentityAnswer>('GET /identity')
  const { refused, all } = refusedShare(last24h)
  const back = '"cairn org set identityMode observe" goes back'
  if (all === 0)
    warn(`no call with a userId was counted in 24 hours, so the effect is unknown: ${back}`)
  else if (refused > 0) {
    warn(`${refused} of ${all} calls and events in 24 hours would have been rejected: ${back}`)
  }
}
