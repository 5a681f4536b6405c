import { type Config, defaultOf, type SettingName, settingNames } from '../config/settings.ts'
import type { Flow } from '../core/flow/flow.ts'
import { shown } from '../core/text/wording.ts'
import { isoTime } from '../core/time/clock.ts'
import { type HeldPort, holdPort, type PortTaken } from '../runtime/ports.ts'
import { systemClock } from '../runtime/system-clock.ts'
import { asking } from './asking.ts'
import type { Command } from './command.ts'
import { demoFacts } from './demo/facts.ts'
import { demoLink, lookUpDemo, prepareDemo, sendAll } from './demo/fill.ts'
import { UsageFailure, warn } from './failure.ts'
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
/** The usual port of the site, beside the server's. */
const usualSitePort = 8_081
/** How many ports after the usual one are tried if none was asked for. */
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
      `port of the site (default: ${usualSitePort}, or the next free one)`,
    )
    .examples('cairn demo', 'cairn demo --port 9000', 'cairn demo --data /tmp/harbor')
    .action(async (options: { sitePort?: string }, command: Command) => {
      const { sitePort, ...config } = demoConfig(command, sitePortOf(options.sitePort))
      let isInterrupted = false
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        process.once(signal, () => {
          isInterrupted = true
        })
      }
      await prepareDemo(config, Date.now())
      // Loaded here, so that no other command waits for the server's modules.
      const { serve } = await import('../runtime/serve.ts')
      const running = await serve(config)
      // It heard no signal that came before it was there.
      if (isInterrupted) running.stop()
      try {
        await fill(config, running, sitePort)
      } catch (error) {
        // A demo that is stopped midway has not failed; its server stops by itself.
        if (!isInterrupted) {
          running.stop()
          await running.stopped
          throw error
        }
      }
      process.exit(await running.stopped)
    })
}

/** As for `serve`, but with a directory and ports that no real server uses. */
function demoConfig(command: Command, askedSitePort: number | null) {
  const { config, given } = serverSettingsOf(command)
  const { port, managementPort, managementHost, databaseUrl } = config
  const ofDemo = <Name extends keyof typeof demoDefaults>(name: Name) =>
    given.has(name) ? config[name] : demoDefaults[name]
  const host = ofDemo('host')
  const data = ofDemo('data')
  if (databaseUrl !== null) {
    warn(`the demo keeps its data in ${data}, and ignores CAIRN_DATABASE_URL`)
  }
  // The demo prints a token that it makes itself, which no identity provider's keys would verify.
  const isOwnIssuer = config.sessionSecret === null
  if (isOwnIssuer && config.sessionIssuer !== null) {
    warn(`the demo makes its own session tokens and ignores ${config.sessionIssuer}`)
  }
  const isSitePortAsked = askedSitePort !== null
  const sitePort = askedSitePort ?? usualSitePort
  const ports = choosePorts({
    port: [given.has('port'), host, port, '--port'],
    managementPort: [
      given.has('managementPort'),
      managementHost,
      managementPort,
      '--management-port',
    ],
    sitePort: [isSitePortAsked, host, sitePort, '--site-port'],
  })
  return Object.freeze({
    ...config,
    ...ports,
    sessionIssuer: isOwnIssuer ? null : config.sessionIssuer,
    data,
    databaseUrl: null,
    host,
    logLevel: ofDemo('logLevel'),
  })
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

/** The first free port from the usual one on; the usual one's error if none is free. */
function holdFreePort(host: string, usual: number, flag: string): HeldPort {
  for (let port = usual; port <= usual + otherPorts; port++) {
    try {
      return holdPort(host, port, flag)
    } catch (error) {
      const { code } = ((error as PortTaken).cause ?? {}) as { code?: string }
      // Another program has this port. Any other fault would be the same for every port.
      if (code !== 'EADDRINUSE') throw error
    }
  }
  return holdPort(host, usual, flag)
}

/** Null if none was asked for. */
function sitePortOf(asked: string | undefined): number | null {
  if (asked === undefined) return null
  if (/^\d{1,5}$/.test(asked) && Number(asked) <= 65_535) return Number(asked)
  throw new UsageFailure(`--site-port must be a port, 0 to 65535, not '${shown(asked)}'`)
}

async function fill(
  config: Config,
  running: { url: string; managementUrl: string },
  port: number,
): Promise<void> {
  const clock = systemClock()
  const now = clock.now()
  const { organisation, snippetKey } = await lookUpDemo(config.data)
  // Loaded here, so that no other command loads the site.
  const { demoSite } = await import('./demo/site.ts')
  const fetchPage = demoSite({ cairnUrl: running.url, snippetKey })
  const site = Bun.serve({ hostname: config.host, port, fetch: fetchPage })
  const line = liveLine()
  const { ask: page } = asking(
    (path, init) => fetch(running.url + path, init),
    { authorization: `Bearer ${snippetKey}` },
    '/api/v1',
    seconds => line.show(`request limit reached: going on in ${seconds} s`),
  )
  const { flows } = await page<{ flows: Flow[] }>('GET /flows')
  const { data, retentionDays } = config
  const startedAt = performance.now()
  const told = { data, page, flows, organisation, now, retentionDays, onProgress: line.show }
  const sent = await sendAll(told).finally(line.end)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  tell(`cairn: ${sent > 0 ? `sent ${sent} events in ${seconds} s` : 'the history already exists'}`)

  const { ownTokensFor } = await import('../runtime/tokens.ts')
  const { token, expiresAt } = await ownTokensFor(config, clock).issue(
    organisation.id,
    tokenSeconds,
  )
  const executable = Bun.which('cairn') ? 'cairn' : process.execPath
  const siteUrl = `http://${new URL(running.url).hostname}:${site.port}`
  const dashboardUrl = await demoLink(config, running.url)
  const places = { ...running, siteUrl, dashboardUrl, dataDir: data, executable }
  const facts = { ...places, organisation, snippetKey, token, flows, now }
  print(...demoFacts({ ...facts, expiresAt: isoTime(expiresAt) }))
}
