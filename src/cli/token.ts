import type { Command } from 'commander'
import { isoTime } from '../core/time/clock.ts'
import { holderOf, isHeld } from '../server/lock.ts'
import { systemClock } from '../server/system-clock.ts'
import { tokenConflict } from '../server/token-mode.ts'
import { examples } from './examples.ts'
import { CommandFailure, UsageFailure } from './failure.ts'
import { managedHere } from './manage.ts'
import { addManagementTokens } from './management-token.ts'
import { print, printJson } from './output.ts'
import { addSettings, settingsOf } from './settings.ts'

const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 }
const longestSeconds = 366 * 86_400

/** `90s`, `30m`, `8h` or `7d` as seconds. */
function lifetimeIn(text: string): number {
  const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  const seconds = Number(count) * (unitSeconds[unit] ?? Number.NaN)
  if (seconds >= 1 && seconds <= longestSeconds) return seconds
  throw new UsageFailure(
    `--for "${text.slice(0, 20)}": write a time such as 90s, 30m, 8h or 7d, at most 366d`,
  )
}

export function addToken(cairn: Command): void {
  const token = cairn
    .command('token')
    .description('session tokens for analytics, and management tokens for programs')
    .addHelpText(
      'after',
      examples(
        'cairn token issue --org harbor --for 8h',
        'cairn token create CI --scope flows:write flows:publish --org harbor',
      ),
    )
  addManagementTokens(token)
  addSettings(token.command('issue'), [
    'data',
    'sessionIssuer',
    'sessionAudience',
    'sessionType',
    'organisationClaim',
  ])
    .description('make a session token for an organisation')
    .option('--org <org>', 'id or slug; may be left out where there is only one')
    .option(
      '--for <time>',
      'how long it is valid: a whole number of s, m, h or d, at most 366d',
      '12h',
    )
    .option('--json', 'print {token, expiresAt} as JSON')
    .addHelpText(
      'after',
      examples('cairn token issue --org harbor', 'cairn token issue --org harbor --for 8h --json'),
    )
    .action(async (options: { for: string; json?: boolean }, command: Command) => {
      const config = settingsOf(
        command,
        'data',
        'sessionSecret',
        'sessionIssuer',
        'sessionAudience',
        'sessionType',
        'sessionJwksUrl',
        'organisationClaim',
      )
      const seconds = lifetimeIn(options.for)
      const running = isHeld(config.data) ? holderOf(config.data)?.sessionTokens : undefined
      const conflict = tokenConflict(running, config)
      if (conflict) throw new CommandFailure(`${conflict.what}: ${conflict.fix}`)
      const { providerOf } = await import('../server/identity-provider.ts')
      if (providerOf(config)) {
        throw new CommandFailure(
          `session tokens are made by ${config.sessionIssuer}, the configured issuer: ask it for one with the audience "${config.sessionAudience}" and the organisation in the claim "${config.organisationClaim}"`,
        )
      }
      const id = await managedHere(command, async manager => manager.id)
      const { ownTokensFor } = await import('../server/tokens.ts')
      const issued = await ownTokensFor(config, systemClock()).issue(id, seconds)
      const expiresAt = isoTime(issued.expiresAt)
      if (options.json) return printJson({ token: issued.token, expiresAt })
      print(issued.token)
    })
}
