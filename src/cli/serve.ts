import type { Command } from './command.ts'
import { makeDirectory } from './data.ts'
import { warn } from './failure.ts'
import { tell } from './output.ts'
import { addSettings, serverSettings, serverSettingsOf } from './settings.ts'

export function addServe(cairn: Command): void {
  addSettings(cairn.command('serve'))
    .description('serve the API until SIGTERM or SIGINT; SIGHUP has the settings read again')
    .examples(
      'cairn serve',
      'cairn serve --data /var/lib/cairn --port 80 --management-host 0.0.0.0',
      'CAIRN_SESSION_SECRET_FILE=/run/secrets/jwt cairn serve --ack buffer',
      'cairn serve --config /etc/cairn/cairn.env',
    )
    .action(async (_options, command: Command) => {
      const { config } = serverSettingsOf(command)
      makeDirectory(config.data)
      // Loaded here, so that no other command waits for the server's modules.
      const { serve } = await import('../runtime/serve.ts')
      const running = await serve(config, () => serverSettings(command))
      for (const warning of running.warnings) {
        warn(warning)
        running.warn(warning)
      }
      tell(`cairn: serving ${running.url}, management at ${running.managementUrl}`)
      // Not by itself: the threads would keep the process.
      process.exit(await running.stopped)
    })
}
