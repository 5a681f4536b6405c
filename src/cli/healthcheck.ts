import type { Command } from 'commander'
import { examples } from './examples.ts'
import { CommandFailure } from './failure.ts'
import { print } from './output.ts'
import { addSettings, settingsOf } from './settings.ts'

const patienceMs = 3_000

/** An address to listen on as one to connect to: any address means this machine. */
const reachable = (host: string) => {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

export function addHealthcheck(cairn: Command): void {
  addSettings(cairn.command('healthcheck'), ['managementPort', 'managementHost'])
    .description('ask a running server on this machine whether it is ready; exit status 0 if it is')
    .addHelpText('after', examples('cairn healthcheck', 'cairn healthcheck --management-port 9191'))
    .action(async (_options, command: Command) => {
      const config = settingsOf(command, 'managementPort', 'managementHost')
      const url = `http://${reachable(config.managementHost)}:${config.managementPort}/readyz`
      const response = await ask(url)
      const body = (await response.text().catch(() => '')).trim().split('\n')[0]?.slice(0, 200)
      const found = [`${url} answers ${response.status}`, body].filter(Boolean).join(': ')
      if (response.status !== 200) throw new CommandFailure(`not ready: ${found}`)
      print(`ready: ${found}`)
    })
}

async function ask(url: string): Promise<Response> {
  try {
    return await fetch(url, { signal: AbortSignal.timeout(patienceMs), redirect: 'manual' })
  } catch (error) {
    const { name, code, message } = error as Error & { code?: string }
    const reason =
      name === 'TimeoutError' ? `no answer in ${patienceMs / 1000} s` : (code ?? message)
    throw new CommandFailure(
      `not ready: ${url} cannot be reached (${reason}): is a server running?`,
    )
  }
}
