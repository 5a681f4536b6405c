import type { Config } from '../config/settings.ts'
import { painted, wantsColour } from '../core/text/colour.ts'
import type { OrganisationList } from '../modules/organisations/schema.ts'
import { requireOwnData } from '../runtime/place.ts'
import { hasDatabase } from '../storage/sqlite/database/database.ts'
import type { Command } from './command.ts'
import { newLink } from './dashboard.ts'
import { makeDirectory } from './data.ts'
import { warn } from './failure.ts'
import { managedAt, operated } from './manage.ts'
import { printPainted, tell } from './output.ts'
import { addSettings, serverSettings, serverSettingsOf } from './settings.ts'

export function addServe(cairn: Command): void {
  addSettings(cairn.command('serve'))
    .description('run the server until Ctrl-C or SIGTERM; SIGHUP reloads the settings')
    .examples(
      'cairn serve',
      'cairn serve --data /var/lib/cairn --port 80 --management-host 0.0.0.0',
      'CAIRN_SESSION_SECRET_FILE=/run/secrets/jwt cairn serve --ack buffer',
      'cairn serve --config /etc/cairn/cairn.env',
    )
    .action(async (_options, command: Command) => {
      const { config } = serverSettingsOf(command)
      const isWatched = process.stdout.isTTY && config.dashboard === 'on'
      makeDirectory(config.data)
      if (isWatched) await makeFirstOrganisation(config)
      // Loaded here, so that no other command waits for the server's modules.
      const { serve } = await import('../runtime/serve.ts')
      const running = await serve(config, () => serverSettings(command))
      for (const warning of running.warnings) {
        warn(warning)
        running.warn(warning)
      }
      tell(`cairn: serving ${running.url}, management at ${running.managementUrl}`)
      if (isWatched) await printLink(config, running.url)
      // Exits explicitly, because timers would keep the process alive.
      process.exit(await running.stopped)
    })
}

/**
 * Created at a terminal for a new data directory or database, so that everything else can be done in the
 * dashboard.
 */
const firstOrganisation = { name: 'My organisation' }

async function makeFirstOrganisation(config: Config): Promise<void> {
  const { data, databaseUrl } = config
  if (databaseUrl === null) {
    if (hasDatabase(data)) return
    requireOwnData(data)
  }
  await operated(config, async ({ ask }) => {
    // Another node may have made an organisation.
    const { total } = await ask<OrganisationList>('GET /organisations')
    if (total === 0) await ask('POST /organisations', { body: firstOrganisation })
  })
}

/**
 * Prints a sign-in link for the operator of the only organisation. Never into a log, because anyone can use it.
 */
async function printLink(config: Config, url: string): Promise<void> {
  const { organisations, total } = await operated(config, ({ ask }) =>
    ask<OrganisationList>('GET /organisations'),
  )
  const [only] = organisations
  if (!only || total > 1) return
  const body = { role: 'operator' } as const
  const base = config.publicUrl ?? url
  const link = await managedAt(config, only.id, manager => newLink(manager, base, body))
  tell('', `Open the dashboard of ${only.name}. This link signs you in once, within ten minutes:`)
  const isColoured = wantsColour(process.stdout, process.env)
  printPainted('', isColoured ? painted(link.url, 'cyan') : link.url, '')
}
