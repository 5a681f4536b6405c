import type { Database } from 'bun:sqlite'
import type { Command } from 'commander'
import { and, eq, gt } from 'drizzle-orm'
import { type Config, defaultOf, type SettingName, settingNames } from '../config.ts'
import type { Flow } from '../core/flow/flow.ts'
import { shown } from '../core/text/wording.ts'
import { isoTime } from '../core/time/clock.ts'
import { type HeldPort, holdPort, type PortTaken } from '../server/ports.ts'
import { systemClock } from '../server/system-clock.ts'
import { tables } from '../storage/catalogue/change.ts'
import { stepReports } from '../storage/database/schema.ts'
import { rowOf } from '../storage/in-rows.ts'
import { storedIds } from '../storage/ledger/ledger.ts'
import type { OrganisationRecord } from '../storage/organisations/organisations.ts'
import { makeDirectory, takenUp, withData } from './data.ts'
import { DemoClient } from './demo/client.ts'
import { demoFacts } from './demo/facts.ts'
import { dayMs, historyOfDay } from './demo/history.ts'
import { sendPresent } from './demo/present.ts'
import { historyDays, sendHistory } from './demo/send.ts'
import { setUpDemo } from './demo/setup.ts'
import { examples } from './examples.ts'
import { UsageFailure, warn } from './failure.ts'
import { print, tell } from './output.ts'
import { addSettings, serverSettingsOf } from './settings.ts'

/** What the demo takes in place of a server's defaults, and says in its help. */
const demoDefaults = {
  data: './cairn-demo-data',
  // Its credentials are printed, and anyone may ask for its example data: for this machine alone.
  host: '127.0.0.1',
  // One line a request would bury what the demo prints.
  logLevel: 'warn',
} as const
const tokenSeconds = 12 * 3_600
/** The usual port of the site, beside the server's. */
const usualSitePort = 8_081
/** How many ports after the usual one are tried where none was asked for. */
const otherPorts = 19
/** What the pages say of the present is sent again once it is this old. */
const presentMs = 6 * 3_600_000

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
      `serve an example organisation with three flows, a month of history and a site that shows them (from ${demoDefaults.data}, to this machine alone, and on the next free ports, unless told otherwise)`,
    )
    .option(
      '--site-port <port>',
      `port of the site (default: ${usualSitePort}, or the next free one)`,
    )
    .addHelpText(
      'after',
      examples('cairn demo', 'cairn demo --port 9000', 'cairn demo --data /tmp/harbor'),
    )
    .action(async (options: { sitePort?: string }, command: Command) => {
      const { sitePort, ...config } = demoConfig(command, sitePortOf(options.sitePort))
      makeDirectory(config.data)
      let isInterrupted = false
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        process.once(signal, () => {
          isInterrupted = true
        })
      }
      // Loaded here, so that no other command waits for the server's modules.
      const { serve } = await import('../server/serve.ts')
      const running = await serve(config)
      // The server hears signals only from now on.
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

/** As for `serve`, but in a directory and on ports that are no real server's. */
function demoConfig(command: Command, askedSitePort: number | null) {
  const { config, given } = serverSettingsOf(command)
  const { port, managementPort, managementHost } = config
  const ofDemo = <Name extends keyof typeof demoDefaults>(name: Name) =>
    given.has(name) ? config[name] : demoDefaults[name]
  const host = ofDemo('host')
  // It prints a token of its own making, which no identity provider's keys would verify.
  const isOwnIssuer = config.sessionSecret === null
  if (isOwnIssuer && config.sessionIssuer !== null) {
    warn(`the demo makes its session tokens itself: ${config.sessionIssuer} is not asked`)
  }
  const ports = choosePorts({
    port: { host, port, isAsked: given.has('port'), flag: '--port' },
    managementPort: {
      host: managementHost,
      port: managementPort,
      isAsked: given.has('managementPort'),
      flag: '--management-port',
    },
    sitePort: {
      host,
      port: askedSitePort ?? usualSitePort,
      isAsked: askedSitePort !== null,
      flag: '--site-port',
    },
  })
  return Object.freeze({
    ...config,
    ...ports,
    sessionIssuer: isOwnIssuer ? null : config.sessionIssuer,
    data: ofDemo('data'),
    host,
    logLevel: ofDemo('logLevel'),
  })
}

interface WantedPort {
  host: string
  port: number
  /** Else the next free one does as well. */
  isAsked: boolean
  flag: string
}

/** A port for each, none of them twice; those that were asked for are taken first. */
function choosePorts<Name extends string>(wanted: Record<Name, WantedPort>): Record<Name, number> {
  const held: [string, HeldPort][] = []
  try {
    const names = Object.entries<WantedPort>(wanted)
    for (const [name, one] of names.sort(([, a], [, b]) => Number(b.isAsked) - Number(a.isAsked))) {
      const { host, port, flag, isAsked } = one
      held.push([name, isAsked ? holdPort(host, port, flag) : holdFreePort(host, port, flag)])
    }
    return Object.fromEntries(held.map(([name, { port }]) => [name, port])) as Record<Name, number>
  } finally {
    for (const [, { letGo }] of held) letGo()
  }
}

/** The first free port from the usual one on; the usual one's error where none is. */
function holdFreePort(host: string, usual: number, flag: string): HeldPort {
  for (let port = usual; port <= usual + otherPorts; port++) {
    try {
      return holdPort(host, port, flag)
    } catch (error) {
      const { code } = ((error as PortTaken).cause ?? {}) as { code?: string }
      // Another program has it; any other fault is every port's.
      if (code !== 'EADDRINUSE') throw error
    }
  }
  return holdPort(host, usual, flag)
}

/** Null where none was asked for. */
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
  // Older events would be refused.
  const days = Math.min(historyDays, config.retentionDays)
  await withData(config.data, async database => {
    const { organisation, snippetKey } = await setUpDemo(database, now)
    await takenUp(database, config.data)
    // Loaded here, so that no other command holds the site.
    const { demoSite } = await import('./demo/site.ts')
    const fetch = demoSite({ cairnUrl: running.url, snippetKey })
    const site = Bun.serve({ hostname: config.host, port, fetch })
    const client = new DemoClient(running.url, snippetKey, seconds => {
      progress(`the limit of requests is reached: going on in ${seconds} s`)
    })
    const { flows } = (await client.get('/flows')) as { flows: Flow[] }
    await sendAll(database, { client, flows, organisation, now, days })

    const { ownTokensFor } = await import('../server/tokens.ts')
    const { id } = organisation
    const { token, expiresAt } = await ownTokensFor(config, clock).issue(id, tokenSeconds)
    const executable = Bun.which('cairn') ? 'cairn' : process.execPath
    const siteUrl = `http://${new URL(running.url).hostname}:${site.port}`
    const places = { ...running, siteUrl, dataDir: config.data, executable }
    const facts = { ...places, organisation, snippetKey, token, flows, now }
    print(...demoFacts({ ...facts, expiresAt: isoTime(expiresAt) }))
  })
}

async function sendAll(
  database: Database,
  told: {
    client: DemoClient
    flows: Flow[]
    organisation: OrganisationRecord
    now: number
    days: number
  },
): Promise<void> {
  const { client, flows, organisation, now, days } = told
  const startedAt = performance.now()
  const stored = storedIds(database, rowOf(organisation.ref))
  const firstDay = Math.floor(organisation.createdAt / dayMs) - historyDays + 1
  const sent = await sendHistory({
    client,
    flows,
    firstDay,
    now,
    days,
    isStored: id => stored.has(id),
    onProgress: done =>
      progress(`sending history: day ${done.days} of ${days}, ${done.events} events`),
  })
  if (!wasPresent(database, rowOf(organisation.ref), now - presentMs)) {
    progress('sending health reports, fingerprints, ticks and completions')
    const today = Math.floor(now / dayMs)
    const recent = [today - 2, today - 1, today]
      .flatMap(day => historyOfDay(day, { flows, firstDay }))
      // Older ones would be refused.
      .filter(({ occurredAt }) => occurredAt <= now && occurredAt > now - days * dayMs)
    await sendPresent(client, flows, recent)
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  const outcome = sent > 0 ? `sent ${sent} events in ${seconds} s` : 'the history is there already'
  progress(outcome, true)
}

const wasPresent = (database: Database, orgRow: number, since: number) =>
  tables(database)
    .select({ seq: stepReports.seq })
    .from(stepReports)
    .where(and(eq(stepReports.orgId, orgRow), gt(stepReports.at, since)))
    .limit(1)
    .get() !== undefined

/** One line that is written over on a terminal; elsewhere only the last one. */
function progress(line: string, isLast = false): void {
  const { stderr } = process
  if (stderr.isTTY) stderr.write(`\r\u001b[K${line}${isLast ? '\n' : ''}`)
  else if (isLast) tell(`cairn: ${line}`)
}
