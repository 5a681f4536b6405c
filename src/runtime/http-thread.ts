import '../test-clock.ts'
import { BufferGauge } from '../storage/shared/boards.ts'
import '../production-mode.ts'
import { rmSync } from 'node:fs'
import {
  type AnswerObserver,
  type AppDeps,
  createApp,
  routesOf,
  type ServerFigures,
  type ServerWatch,
} from '../app.ts'
import { shortReasonOf } from '../core/text/reason.ts'
import { armFailpoints } from '../failpoints.ts'
import { StorageClient } from '../storage/sqlite/writer/client.ts'
import { Collector, mostGrowthBytes } from './collector.ts'
import { HttpCounters } from './counters.ts'
import { dashboardFor, signInProviderOf } from './dashboard.ts'
import { FlowWorker } from './flow-work.ts'
import { maxHeaderSize } from './header-size.ts'
import { HandedKeys } from './issuer-keys.ts'
import { openLimiter } from './limiter.ts'
import { openLog, RequestLog } from './log.ts'
import { outsideOf } from './outside.ts'
import type { HttpThreadStart, Reloaded, Stop, TallyWanted, ThreadReport } from './protocol.ts'
import { Pulse } from './pulse.ts'
import { keptSnippetFile } from './snippet-versions.ts'
import { connectStorage } from './storage.ts'
import { systemClock } from './system-clock.ts'
import { Tally } from './tally.ts'
import { tokensFor } from './tokens.ts'

/** A thread that answers requests. It reads from memory or by its own connection, and writes by message. */

declare const self: Worker

/**
 * Bodies are checked against Cairn's own limit. Bun's is far above it, because Bun answers without the
 * headers.
 */
const largestRequestBytes = 8 * 1024 ** 3

/** How long a connection may be idle: longer than storage retries before it gives up on the disk. */
const idleSeconds = 30

/** How long requests in flight may take to finish after a stop, milliseconds. */
const drainMs = 10_000

const report = (message: ThreadReport) => self.postMessage(message)

/** Asks the main thread, which has the figures of the server. */
const server: ServerWatch = {
  look() {
    const { promise, resolve } = Promise.withResolvers<ServerFigures>()
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = ({ data }) => {
      resolve(data)
      port1.close()
    }
    self.postMessage({ type: 'figures_wanted', answer: port2 } satisfies ThreadReport, [port2])
    return promise
  },
}

async function start(message: HttpThreadStart) {
  const { name, config, shared } = message
  armFailpoints(message.failpoints)
  maxHeaderSize()
  const ownLog = openLog(config, name, message.logMutex)
  const { log } = ownLog
  const requestLog = new RequestLog(ownLog)
  const clock = systemClock(message.madeAt)
  const gauge = new BufferGauge(shared.buffer, {
    events: config.bufferEvents,
    bytes: config.bufferBytes,
  })
  const client = StorageClient.over(message.storage, gauge, config.ack)
  const storage = connectStorage(config, client, shared, true, clock.monotonic)
  const issuerKeys = new HandedKeys(message.issuerKeys, clock, () =>
    report({ type: 'issuer_keys_wanted' }),
  )
  const tokens = tokensFor(config, clock, issuerKeys)
  let provider = signInProviderOf(config, issuerKeys)
  let outside = outsideOf(config)
  const limits = await openLimiter(
    config,
    ...([message.windows, message.limits, shared.node] as const),
    log,
  )
  const flows = new FlowWorker()
  const tally = new Tally<string>(clock.monotonic)
  const observers: AnswerObserver[] = []
  const deps = {
    clock,
    stores: storage.stores,
    management: storage.management,
    limiter: limits.limiter,
    flowWork: flows.work,
    tokens,
    server,
    nodesBehind: storage.nodesBehind,
    dashboard: dashboardFor(config, { provider: () => provider, log }),
    alerts: { outside: () => outside, onChange: () => report({ type: 'alerts_wanted' }) },
    retentionDays: config.retentionDays,
    olderSnippetFile: (name: string) => keptSnippetFile(config.data, storage.sharedFile, name),
    observers,
  }
  const routes = routesOf(deps).map(({ method, path, bucket }) => ({ method, path, bucket }))
  const counters = new HttpCounters(message.counters, routes, tally)
  observers.push(counters, requestLog)
  const app = createApp(deps)
  const door = message.socket === null ? null : openDoor(deps, message.socket)
  app.listen({
    port: config.port,
    hostname: config.host,
    // All HTTP threads listen on one port, and the kernel distributes the connections.
    reusePort: true,
    maxRequestBodySize: largestRequestBytes,
    idleTimeout: idleSeconds,
  })
  // Otherwise Bun would answer requests in flight with a bare 503, which says that nothing of them was stored.
  process.on('exit', () => app.server?.stop(true))
  new Pulse(message.pulse).start(clock.monotonic)
  new Collector(() => counters.total, mostGrowthBytes).start()
  report({ type: 'ready', routes })

  async function stop() {
    const { server } = app
    // Stops accepting, answers what is in flight, and closes idle connections.
    const drained = server?.stop(false)
    await Promise.race([drained, Bun.sleep(drainMs)])
    await server?.stop(true)
    await door?.stop(true)
    limits.close()
    flows.close()
    await storage.close()
    log.flush()
    report({ type: 'stopped' })
  }

  /** Requests that wait for the previous issuer's keys are refused. */
  function reload({ config, issuerKeys: known }: Reloaded) {
    log.level = config.logLevel
    requestLog.levelChanged()
    deps.retentionDays = config.retentionDays
    // The gate keeps this object, so it is changed in place.
    Object.assign(tokens, tokensFor(config, clock, issuerKeys))
    provider = signInProviderOf(config, issuerKeys)
    issuerKeys.take(known)
    outside = outsideOf(config)
  }
  return { tally, reload, stop }
}

/**
 * Lets the operator in, at a socket that nobody else can open. This server holds the data directory's lock,
 * so no other server uses the socket, and one that a killed server left is removed.
 */
function openDoor(deps: AppDeps, socket: string) {
  rmSync(socket, { force: true })
  const { fetch } = createApp({ ...deps, isOperatorsDoor: true })
  const before = process.umask(0o177)
  try {
    return Bun.serve({
      unix: socket,
      fetch,
      maxRequestBodySize: largestRequestBytes,
      // Nobody else can hold a connection open, and some of the operator's work takes long. Bun supports this
      // option on a socket, but its types do not know that.
      idleTimeout: 0 as never,
    })
  } finally {
    process.umask(before)
  }
}

let running: Awaited<ReturnType<typeof start>> | null = null

type Message = HttpThreadStart | Reloaded | TallyWanted | Stop

self.onmessage = async ({ data }: { data: Message }) => {
  try {
    if (data.type === 'start') running = await start(data)
    else if (data.type === 'reloaded') running?.reload(data)
    else if (data.type === 'tally') data.answer.postMessage(running?.tally.read() ?? [])
    else await running?.stop()
  } catch (error) {
    report({ type: 'failed', message: shortReasonOf(error) })
  }
}
