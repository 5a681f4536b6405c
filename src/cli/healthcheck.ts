import { attempt } from '../core/attempt.ts'
import { shown } from '../core/text/wording.ts'
import { holderOf, isHeld, type LockHolder } from '../runtime/lock.ts'
import type { Command, Flags } from './command.ts'
import { isReadableDirectory } from './doctor/findings.ts'
import { CommandFailure, exitStatus, UsageFailure } from './failure.ts'
import { ask, managementUrl } from './management.ts'
import { print, printJson } from './output.ts'
import { addSettings, settingsOf } from './settings.ts'

/** In place of a default. */
const ofServer = "the running server's"

export function addHealthcheck(cairn: Command): void {
  addSettings(cairn.command('healthcheck'), ['data', 'managementPort', 'managementHost'], {
    data: { help: 'data directory of the server' },
    managementPort: { help: 'port of /readyz', default: ofServer },
    managementHost: { default: ofServer },
  })
    .description('check whether the server on a data directory is ready; exit status 0 if it is')
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
        : { status: null, answer: `no server is running on ${data}` }
      const ready = status === 200
      if (json) {
        if (!ready) process.exitCode = exitStatus.failure
        return printJson({ ready, url, status, answer })
      }
      if (url === null) {
        throw new CommandFailure(`not ready: ${answer}: set --data or --management-port`)
      }
      if (status === null) {
        throw new CommandFailure(
          `not ready: ${url} cannot be reached (${answer}): check that a server is running`,
        )
      }
      const [line = ''] = answer.split('\n')
      const found = [`${url} returned ${status}`, shown(line, 200)].filter(Boolean).join(': ')
      if (!ready) throw new CommandFailure(`not ready: ${found}`)
      print(`ready: ${found}`)
    })
}

/**
 * What the flags name, or the server on the data directory, which may have its port from a flag of its own; null
 * if none is running. If this user cannot read the directory, what the settings name.
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
      'CAIRN_MANAGEMENT_PORT is 0: set --management-port to the port of the server',
    )
  }
  return settings
}

/** The server on a data directory; null if none is running, undefined if this user cannot read the directory. */
function serverOn(data: string): LockHolder | null | undefined {
  if (!isReadableDirectory(data)) return undefined
  const isServed = attempt(() => isHeld(data), undefined)
  if (!isServed) return isServed === false ? null : undefined
  const holder = holderOf(data) ?? undefined
  // A command has no port.
  return holder?.port === 0 ? null : holder
}
