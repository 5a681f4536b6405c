import { type Config, defaultOf, type SettingName, settingNames } from '../config/settings.ts'
import { shown } from '../core/text/wording.ts'
import { type HeldPort, holdPort, type PortTaken } from '../runtime/ports.ts'
import { systemClock } from '../runtime/system-clock.ts'
import type { Command } from './command.ts'
import { newLink } from './dashboard.ts'
import { demoFacts } from './demo/facts.ts'
import { fillDemo, type Harbor } from './demo/fill.ts'
import { CommandFailure, UsageFailure, warn } from './failure.ts'
import { managedAt, serverOf } from './manage.ts'
import { print, tell } from './output.ts'
import { liveLine } from './progress.ts'
import { addSettings, serverSettingsOf } from './settings.ts'

/** The demo's own defaults in place of a server's, which its help shows. */
const demoDefaults = {
  data: './cairn-demo-data',
  // For this machine alone, because the demo prints its credentials, and anyone may ask for its example data.
  host: '127.0.0.1',
  // One line per request would bury what the demo prints.
  logLevel: 'warn',
} as const
const tokenSeconds = 12 * 3_600
const defaultSitePort = 8_081
/** How many ports after the default one are tried if none was asked for. */
const otherPorts = 19

export function addDemo(cairn: Command): void {
  const orNext = (name: SettingName) => ({ default: `${defaultOf(name)}, or the next free one` })
  addSettings(cairn.command('demo'), settingNames, {
    data: { default: demoDefaults.data },
    host: { default: demoDefaults.host },
    logLevel: { default: demoDefaults.logLevel },
    port: orNext('port'),
    managementPort: orNext('managementPort'),
  })
    .description(
      `serve an example organisation with three flows, a month of history and a site that shows them (from ${demoDefaults.data}, on this machine only, and on the next free ports, unless set otherwise)`,
    )
    .option(
      '--site-port <port>',
      `port of the site (default: ${defaultSitePort}, or the next free one)`,
    )
    .examples('cairn demo', 'cairn demo --port 9000', 'cairn demo --data /tmp/harbor')
    .action(async (options: { sitePort?: string }, command: Command) => {
      const { sitePort, ...config } = demoConfig(command, sitePortOf(options.sitePort))
      if (serverOf(config) !== null) {
        throw new CommandFailure(
          `a server runs on ${config.data}: stop it, or choose another directory with --data`,
        )
      }
      const interrupt = new AbortController()
      for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => interrupt.abort())
      const harbor = await fill(config, interrupt.signal)
      if (interrupt.signal.aborted) process.exit(0)
      // Loaded here, so that no other command waits for the server's modules.
      const { serve } = await import('../runtime/serve.ts')
      const running = await serve(config)
      // It heard no signal that came before it was there.
      if (interrupt.signal.aborted) running.stop()
      else await present(config, running, harbor, sitePort)
      process.exit(await running.stopped)
    })
}

/** As for `serve`, but with a directory and ports that no real server uses. */
function demoConfig(command: Command, sitePort: number | null) {
  const { config, given } = serverSettingsOf(command)
  const { port, managementPort, managementHost } = config
  const ofDemo = <Name extends keyof typeof demoDefaults>(name: Name) =>
    given.has(name) ? config[name] : demoDefaults[name]
  const [data, host] = [ofDemo('data'), ofDemo('host')]
  if (config.databaseUrl !== null) {
    warn(`the demo keeps its data in ${data}, and ignores CAIRN_DATABASE_URL`)
  }
  // The demo prints a token that it makes itself, which no identity provider's keys would verify.
  const isOwnIssuer = config.sessionSecret === null
  if (isOwnIssuer && config.sessionIssuer !== null) {
    warn(`the demo makes its own session tokens and ignores ${config.sessionIssuer}`)
  }
  const ports = choosePorts({
    port: [given.has('port'), host, port, '--port'],
    managementPort: [
      given.has('managementPort'),
      managementHost,
      managementPort,
      '--management-port',
    ],
    sitePort: [sitePort !== null, host, sitePort ?? defaultSitePort, '--site-port'],
  })
  const sessionIssuer = isOwnIssuer ? null : config.sessionIssuer
  const own = { sessionIssuer, data, host, databaseUrl: null, logLevel: ofDemo('logLevel') }
  return Object.freeze({ ...config, ...ports, ...own })
}

/** A port that was asked for is taken as it is; otherwise the next free one is. */
type WantedPort = [isAsked: boolean, host: string, port: number, flag: string]

/** A port for each, none of them twice; those that were asked for are taken first. */
function choosePorts<Name extends string>(wanted: Record<Name, WantedPort>): Record<Name, number> {
  const held: [string, HeldPort][] = []
  try {
    const names = Object.entries<WantedPort>(wanted)
    for (const [name, [isAsked, ...place]] of names.sort((a, b) => +b[1][0] - +a[1][0])) {
      held.push([name, isAsked ? holdPort(...place) : holdFreePort(...place)])
    }
    return Object.fromEntries(held.map(([name, { port }]) => [name, port])) as Record<Name, number>
  } finally {
    for (const [, { letGo }] of held) letGo()
  }
}

/** The first free port from the default one on; the default one's error if none is free. */
function holdFreePort(host: string, first: number, flag: string): HeldPort {
  for (let port = first; port <= first + otherPorts; port++) {
    try {
      return holdPort(host, port, flag)
    } catch (error) {
      const { code } = ((error as PortTaken).cause ?? {}) as { code?: string }
      // Another program has this port. Any other error would be the same for every port.
      if (code !== 'EADDRINUSE') throw error
    }
  }
  return holdPort(host, first, flag)
}

/** Null if none was asked for. */
function sitePortOf(text: string | undefined): number | null {
  if (text === undefined) return null
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new UsageFailure(`--site-port must be a port, 0 to 65535, not '${shown(text)}'`)
}

async function fill(config: Config, signal: AbortSignal): Promise<Harbor> {
  tell(`cairn: filling ${config.data} with what people did in the last month`)
  const line = liveLine()
  const options = { now: systemClock().now(), signal, onProgress: line.show }
  return fillDemo(config, options).finally(line.end)
}

/** Serves the site beside the server, and prints what there is to see. */
async function present(
  config: Config,
  running: { url: string; managementUrl: string },
  harbor: Harbor,
  port: number,
): Promise<void> {
  const { data, dashboard, publicUrl } = config
  const { organisation, snippetKey } = harbor
  // Loaded here, so that no other command loads the site.
  const { demoSite } = await import('./demo/site.ts')
  const fetchPage = demoSite({ cairnUrl: running.url, snippetKey })
  const site = Bun.serve({ hostname: config.host, port, fetch: fetchPage })
  const clock = systemClock()
  const { ownTokensFor } = await import('../runtime/tokens.ts')
  const tokens = ownTokensFor(config, clock)
  const operator = { role: 'operator', name: 'Demo owner' } as const
  const link = () =>
    managedAt(config, organisation.id, manager =>
      newLink(manager, publicUrl ?? running.url, operator),
    )
  const facts = {
    ...{ ...running, ...harbor, dataDir: data, now: clock.now() },
    ...(await tokens.issue(organisation.id, tokenSeconds)),
    siteUrl: `http://${new URL(running.url).hostname}:${site.port}`,
    dashboardUrl: dashboard === 'off' ? null : (await link()).url,
    executable: Bun.which('cairn') ? 'cairn' : process.execPath,
  }
  print(...demoFacts(facts))
}
