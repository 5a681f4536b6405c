import { attempt } from '../core/attempt.ts'
import { shown } from '../core/text/wording.ts'
import { holderOf, isHeld, type LockHolder } from '../runtime/lock.ts'
import type { Command, Flags } from './command.ts'
import { isReadableDirectory } from './doctor/finding.ts'
import { CommandFailure, exitStatus, UsageFailure } from './failure.ts'
import { ask, managementUrl } from './management.ts'
import { print, printJson } from './output.ts'
import { addSettings, settingsOf } from './settings.ts'

/** In place of a default. */
const ofServer = "the running server's"

export function addHealthcheck(cairn: Command): void {
  addSettings(cairn.command('healthcheck'), ['data', 'managementPort', 'managementHost'], {
    data: { help: 'data directory of the server' },
    managementPort: { help: 'port that the server answers /readyz on', default: ofServer },
    managementHost: { default: ofServer },
  })
    .description(
      'ask the server that runs on a data directory whether it is ready; exit status 0 if it is',
    )
    .option(
      '--json',
      'print {ready, url, status, answer} as JSON; status is null without an answer, url too if no server runs',
    )
    .examples(
      'cairn healthcheck',
      'cairn healthcheck --data /var/lib/cairn',
      'cairn healthcheck --management-port 9191',
      'cairn healthcheck --json',
    )
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const { data } = settingsOf(command, 'data')
      const server = serverToAsk(command)
      const url = server && managementUrl(server.managementHost, server.managementPort, '/readyz')
      const { status, answer } = url
        ? await ask(url)
        : { status: null, answer: `no server runs on ${data}` }
      const ready = status === 200
      if (json) {
        if (!ready) process.exitCode = exitStatus.failure
        return printJson({ ready, url, status, answer })
      }
      if (url === null) {
        throw new CommandFailure(
          `not ready: ${answer}: name its directory with --data, or its port with --management-port`,
        )
      }
      if (status === null) {
        throw new CommandFailure(
          `not ready: ${url} cannot be reached (${answer}): is a server running?`,
        )
      }
      const [line = ''] = answer.split('\n')
      const found = [`${url} answers ${status}`, shown(line, 200)].filter(Boolean).join(': ')
      if (!ready) throw new CommandFailure(`not ready: ${found}`)
      print(`ready: ${found}`)
    })
}

/**
 * Where to ask: what the flags name, or the server that runs on the data directory, which may have its port by
 * a flag of its own; null if none runs. Where the directory does not tell, what the settings name.
 */
function serverToAsk(command: Command) {
  const { data, ...settings } = settingsOf(command, 'data', 'managementPort', 'managementHost')
  const { managementPort, managementHost } =
    command.opts<Flags<'managementPort' | 'managementHost'>>()
  const isNamed = managementPort !== undefined || managementHost !== undefined
  const found = isNamed ? undefined : serverOn(data)
  if (found !== undefined) return found
  if (settings.managementPort === 0) {
    throw new UsageFailure(
      '0 is no port to ask on: name the one that the server took with --management-port',
    )
  }
  return settings
}

/** The server that runs on a data directory; null if none does, undefined if this user may not know. */
function serverOn(data: string): LockHolder | null | undefined {
  if (!isReadableDirectory(data)) return undefined
  const isServed = attempt(() => isHeld(data), undefined)
  if (!isServed) return isServed === false ? null : undefined
  const holder = holderOf(data) ?? undefined
  // A command has no port.
  return holder?.port === 0 ? null : holder
}
