import { shown } from '../core/text/wording.ts'
import type { Command } from './command.ts'
import { CommandFailure, exitStatus, UsageFailure } from './failure.ts'
import { ask, managementUrl } from './management.ts'
import { print, printJson } from './output.ts'
import { addSettings, settingsOf } from './settings.ts'

export function addHealthcheck(cairn: Command): void {
  addSettings(cairn.command('healthcheck'), ['managementPort', 'managementHost'], {
    managementPort: { help: 'port that the server answers /readyz on' },
  })
    .description(
      'ask the server running on this machine whether it is ready; exit status 0 if it is',
    )
    .option(
      '--json',
      'print {ready, url, status, answer} as JSON; status is null without an answer',
    )
    .examples(
      'cairn healthcheck',
      'cairn healthcheck --management-port 9191',
      'cairn healthcheck --json',
    )
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const config = settingsOf(command, 'managementPort', 'managementHost')
      if (config.managementPort === 0) {
        throw new UsageFailure(
          '0 is no port to ask on: name the one that the server took with --management-port',
        )
      }
      const url = managementUrl(config.managementHost, config.managementPort, '/readyz')
      const { status, answer } = await ask(url)
      const ready = status === 200
      if (json) {
        if (!ready) process.exitCode = exitStatus.failure
        return printJson({ ready, url, status, answer })
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
