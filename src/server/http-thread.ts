import '../production-mode.ts'
import { type Answered, createApp, routesOf } from '../app.ts'
import { systemClock } from '../core/clock.ts'
import { WindowTable } from '../core/window-table.ts'
import { BufferGauge } from '../storage/buffer-gauge.ts'
import { StorageClient } from '../storage/client.ts'
import { connectStores } from '../storage/connect.ts'
import { openForReading } from '../storage/database.ts'
import { failAt } from './failpoints.ts'
import { HandedKeys } from './handed-keys.ts'
import { maxHeaderSize } from './header-size.ts'
import { createLog, type Log } from './log.ts'
import { Metrics, routeLabel } from './metrics.ts'
import type { HttpThreadStart, IssuerKeysKnown, Stop, ThreadReport } from './protocol.ts'
import { tokensFor } from './tokens.ts'

/** A thread that answers requests: reads in memory or by its own connection, writes by message. */

declare const self: Worker

/** Bodies are measured by our own limit; Bun's stands far above it, because it answers without headers. */
const largestRequestBytes = 8 * 1024 ** 3

/** How long a connection may be silent: longer than storage tries before it gives up on the disk. */
const idleSeconds = 30

/** How long requests in flight may take to finish after a stop, milliseconds. */
const drainMs = 10_000

const report = (message: ThreadReport) => self.postMessage(message)

function logAnswer(log: Log, answered: Answered, remark = ''): void {
  const { error, method, route, durationMs, ...rest } = answered
  const line = { ...rest, durationMs: Math.round(durationMs * 1000) / 1000 }
  const text = `${method} ${route ?? '(no route)'} ${remark}`.trimEnd()
  if (error === undefined) log.info(line, text)
  else log.error({ ...line, reason: String((error as Error)?.stack ?? error) }, text)
}

function start(message: HttpThreadStart) {
  const { name, config, shared, metrics: words, storage, failpoints } = message
  maxHeaderSize()
  const log = createLog(config, name)
  const clock = systemClock(message.clock)
  const gauge = new BufferGauge(shared.buffer, {
    events: config.bufferEvents,
    bytes: config.bufferBytes,
  })
  const send = (command: string) => {
    failAt(failpoints, 'http_request')
    storage.postMessage(command)
  }
  const client = new StorageClient(send, gauge, config.ack)
  storage.onmessage = ({ data }: { data: string }) => client.receive(data)
  const reading = openForReading(config.data)
  const issuerKeys = new HandedKeys(message.issuerKeys, clock, () =>
    report({ type: 'issuer_keys_wanted' }),
  )
  const deps = {
    clock,
    stores: connectStores(reading, client, shared),
    windows: new WindowTable(shared.windows),
    tokens: tokensFor(config, clock, issuerKeys),
    retentionDays: config.retentionDays,
    onBroken: (answered: Answered) => logAnswer(log, answered, 'broke off'),
    onAnswer(answered: Answered) {
      metrics.countAnswer(answered.method, answered.route, answered.status, answered.durationMs)
      logAnswer(log, answered)
    },
  }
  const labels = routesOf(deps).map(routeLabel)
  const metrics = new Metrics(words, labels)
  const app = createApp(deps)
  app.listen({
    port: config.port,
    hostname: config.host,
    // All HTTP threads listen on one port, and the kernel deals connections out.
    reusePort: true,
    maxRequestBodySize: largestRequestBytes,
    idleTimeout: idleSeconds,
  })
  report({ type: 'ready', routes: labels })

  async function stop() {
    const { server } = app
    // Stops accepting; what is in flight is answered, and idle connections are closed.
    const drained = server?.stop(false)
    await Promise.race([drained, Bun.sleep(drainMs)])
    await server?.stop(true)
    reading.close()
    log.flush()
    report({ type: 'stopped' })
  }
  return { issuerKeys, stop }
}

let running: ReturnType<typeof start> | null = null

self.onmessage = async ({ data }: { data: HttpThreadStart | IssuerKeysKnown | Stop }) => {
  try {
    if (data.type === 'start') running = start(data)
    else if (data.type === 'issuer_keys') running?.issuerKeys.take(data.known)
    else await running?.stop()
  } catch (error) {
    report({ type: 'failed', message: String((error as Error)?.message ?? error) })
  }
}
