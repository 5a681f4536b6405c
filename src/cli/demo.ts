import { type Config, defaultOf, type SettingName } from '../config/settings.ts'
import { shellWord, shown } from '../core/text/wording.ts'
import { isoTime } from '../core/time/clock.ts'
import { type HeldPort, holdPort, type PortTaken } from '../runtime/ports.ts'
import { systemClock } from '../runtime/system-clock.ts'
import type { Command } from './command.ts'
import { newLink } from './dashboard.ts'
import { fillDemo, type Harbor } from './demo/fill.ts'
import { CommandFailure, UsageFailure, warn } from './failure.ts'
import { managedAt, serverOf } from './manage.ts'
import { print, tell } from './output.ts'
import { liveLine } from './progress.ts'
import { addSettings, serverSettingsOf } from './settings.ts'

/** Where the demo's defaults differ from a server's. */
const demoDefaults = {
  data: './cairn-demo-data',
  // The demo prints its credentials.
  host: '127.0.0.1',
  // A line for each request would hide what the demo prints.
  logLevel: 'warn',
} as const
const tokenSeconds = 12 * 3_600
const defaultSitePort = 8_081
/** How many ports after the default are tried if none is set. */
const otherPorts = 19

/** The settings with a flag. The others have their variables, as for a server. */
const demoSettings = [
  ...(['data', 'host', 'port', 'managementHost', 'managementPort', 'publicUrl'] as const),
  ...(['retentionDays', 'dashboard', 'logLevel', 'logFormat'] as const),
]

export function addDemo(cairn: Command): void {
  const orNext = (name: SettingName) => ({ default: `${defaultOf(name)}, or the next free one` })
  addSettings(cairn.command('demo'), demoSettings, {
    data: { default: demoDefaults.data },
    host: { default: demoDefaults.host },
    logLevel: { default: demoDefaults.logLevel },
    port: orNext('port'),
    managementPort: orNext('managementPort'),
  })
    .description(
      'serve an example organisation with five flows, a month of history and a site that shows them',
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
          `a server is running on ${config.data}: stop it, or choose another directory with --data`,
        )
      }
      const interrupt = new AbortController()
      for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => interrupt.abort())
      tell(`cairn: creating a month of example data in ${config.data}`)
      const line = liveLine()
      const siteHost = config.host === '0.0.0.0' ? '127.0.0.1' : config.host
      const fillOptions = {
        site: `http://${siteHost}:${sitePort}`,
        now: systemClock().now(),
        signal: interrupt.signal,
        onProgress: line.show,
      }
      const harbor = await fillDemo(config, fillOptions).finally(line.end)
      if (interrupt.signal.aborted) process.exit(0)
      // Loaded here, so that no other command waits for the server's modules.
      const { serve } = await import('../runtime/serve.ts')
      const running = await serve(config)
      // The server does not know of a signal that came before it.
      if (interrupt.signal.aborted) running.stop()
      else await present(config, running, harbor, sitePort)
      process.exit(await running.stopped)
    })
}

/** As for `serve`, but with a directory and ports that no real server uses. */
function demoConfig(command: Command, sitePort: number | null) {
  const { config, given } = serverSettingsOf(command)
  const ofDemo = <Name extends keyof typeof demoDefaults>(name: Name) =>
    given.has(name) ? config[name] : demoDefaults[name]
  const [data, host] = [ofDemo('data'), ofDemo('host')]
  if (config.databaseUrl !== null) {
    warn(`the demo stores its data in ${data} and ignores CAIRN_DATABASE_URL`)
  }
  // No identity provider's keys would verify the token that the demo creates.
  const isOwnIssuer = config.sessionSecret === null
  if (isOwnIssuer && config.sessionIssuer !== null) {
    warn(`the demo creates its own session tokens and ignores ${config.sessionIssuer}`)
  }
  const { port, managementPort, managementHost } = config
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

/** A port that is set must be free; otherwise the next free one is used. */
type WantedPort = [isSet: boolean, host: string, port: number, flag: string]

/** A port for each, none of them twice; those that are set come first. */
function choosePorts<Name extends string>(wanted: Record<Name, WantedPort>): Record<Name, number> {
  const held: [string, HeldPort][] = []
  try {
    const names = Object.entries<WantedPort>(wanted).sort((a, b) => +b[1][0] - +a[1][0])
    for (const [name, place] of names) held.push([name, holdWanted(place)])
    return Object.fromEntries(held.map(([name, { port }]) => [name, port])) as Record<Name, number>
  } finally {
    for (const [, { letGo }] of held) letGo()
  }
}

/** @throws PortTaken about the first port if none is free */
function holdWanted([isSet, host, first, flag]: WantedPort): HeldPort {
  for (let port = first; !isSet && port <= first + otherPorts; port++) {
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

/** Null if none is set. */
function sitePortOf(text: string | undefined): number | null {
  if (text === undefined) return null
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new UsageFailure(`--site-port must be a port, 0 to 65535, not '${shown(text)}'`)
}

/** Serves the site beside the server, and prints what to open, and calls to copy. */
async function present(
  config: Config,
  { url, managementUrl }: { url: string; managementUrl: string },
  { organisation, snippetKey, flows }: Harbor,
  port: number,
): Promise<void> {
  // Loaded here, so that no other command loads them.
  const { demoSite } = await import('./demo/site.ts')
  const { ownTokensFor } = await import('../runtime/tokens.ts')
  const fetchPage = demoSite({ cairnUrl: url, snippetKey })
  const site = Bun.serve({ hostname: config.host, port, fetch: fetchPage })
  const siteUrl = `http://${new URL(url).hostname}:${site.port}`
  const session = await ownTokensFor(config, systemClock()).issue(organisation.id, tokenSeconds)
  const executable = Bun.which('cairn') ? 'cairn' : process.execPath
  const [cairn, data] = [executable, config.data].map(shellWord)
  const call = (credential: string, path: string) =>
    `curl -s -H 'Authorization: Bearer ${credential}' '${url}/api/v1${path}'`
  const tour = flows.find(({ kind }) => kind === 'tour')
  print(
    '',
    `Started the demo of ${organisation.name}. Next: open the dashboard, then the site.`,
    '',
  )
  if (config.dashboard !== 'off') {
    const person = { role: 'operator', name: 'Demo owner' } as const
    const link = await managedAt(config, organisation.id, manager =>
      newLink(manager, config.publicUrl ?? url, person),
    )
    print(
      `  dashboard      ${link.url}`,
      '                 signs you in once, within ten minutes; for another link:',
      `                 ${cairn} dashboard link --role operator --data ${data}`,
    )
  }
  print(
    `  site           ${siteUrl} starts a tour`,
    `                 ${siteUrl}/home?as=ben is another person, who has not seen it`,
    `  manual         ${url}/docs`,
    `  API            ${url}/api/v1, described at ${url}/api/v1/docs`,
    `  management     ${managementUrl}`,
    `  data           ${config.data}`,
    `  snippet key    ${snippetKey}`,
    `  session token  ${session.token}`,
    `                 valid until ${isoTime(session.expiresAt)}`,
    '',
    '# what a page gets',
    call(snippetKey, '/flows'),
    '# the results of the tour, as JSON and as CSV',
    call(session.token, `/flows/${tour?.id}/analytics`),
    call(session.token, `/flows/${tour?.id}/analytics/export.csv`),
    '# steps whose element is missing',
    `${cairn} steps check --data ${data}`,
    '',
    'Press Ctrl-C to stop. The same command starts it again with the same data.',
  )
}
