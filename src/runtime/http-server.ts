import { rmSync } from 'node:fs'
import {
  type AnswerObserver,
  type AppDeps,
  createApp,
  routesOf,
  type ServerFigures,
} from '../app.ts'
import type { Config } from '../config/settings.ts'
import type { Clock } from '../core/time/clock.ts'
import type { KeySource } from '../http/session-tokens.ts'
import type { NodeState } from '../storage/shared/node-state.ts'
import type { ConnectedStorage } from './connect-storage.ts'
import { HttpCounters } from './counters.ts'
import { dashboardFor, signInProviderOf } from './dashboard.ts'
import { FlowWorker } from './flow-work.ts'
import { openLimiter } from './limiter.ts'
import { socketFile } from './lock.ts'
import { RequestLog, type ServerLog } from './log.ts'
import { outsideOf } from './outside.ts'
import { listening, portSetting } from './ports.ts'
import { keptSnippetFile } from './snippet-versions.ts'
import { tokensFor } from './tokens.ts'

/**
 * Bodies are checked against Cairn's own limit. Bun's is far above it, because Bun answers without the
 * headers.
 */
const largestRequestBytes = 8 * 1024 ** 3

/** How long a connection may be idle: longer than storage retries before it gives up on the disk. */
const idleSeconds = 30

/** How long requests in flight may take to finish after a stop, milliseconds. */
const drainMs = 10_000

/** What the server has that answers need. */
export interface HttpParts {
  clock: Clock
  log: ServerLog
  storage: ConnectedStorage
  /** Says how many nodes are running. */
  node: Pick<NodeState, 'nodes'>
  /** The identity provider's keys; null if session tokens are signed with a secret. */
  issuerKeys: KeySource | null
  figures: () => ServerFigures
  /** Called when there is something new to watch or to send. */
  onAlertsChange(): void
  /** Called right before it listens: releases a port that was held for it. */
  letGo(): void
}

export type HttpServer = Awaited<ReturnType<typeof openHttp>>

/**
 * Answers requests at the API's port and at the operator's socket.
 *
 * @throws PortTaken
 */
export async function openHttp(config: Config, parts: HttpParts) {
  const { clock, storage } = parts
  const { log } = parts.log
  const tokens = tokensFor(config, clock, parts.issuerKeys)
  let provider = signInProviderOf(config, parts.issuerKeys)
  let outside = outsideOf(config)
  const limits = await openLimiter(config, parts.node, log)
  const flows = new FlowWorker()
  const observers: AnswerObserver[] = []
  const deps = {
    clock,
    stores: storage.stores,
    management: storage.management,
    limiter: limits.limiter,
    flowWork: flows.work,
    tokens,
    server: parts.figures,
    nodesBehind: storage.nodesBehind,
    dashboard: dashboardFor(config, { provider: () => provider, log }),
    alerts: { outside: () => outside, onChange: parts.onAlertsChange },
    retentionDays: config.retentionDays,
    olderSnippetFile: (name: string) => keptSnippetFile(config.data, storage.sharedFile, name),
    observers,
  }
  const counters = new HttpCounters(routesOf(deps))
  observers.push(counters, new RequestLog(parts.log))
  const app = createApp(deps)
  const door = openDoor(deps, socketFile(config.data))
  const { host: hostname, port } = config
  parts.letGo()
  listening({ hostname, port, portSetting }, () =>
    app.listen({
      ...{ hostname, port },
      // With Elysia's default, a second server on the port would start without an error.
      reusePort: false,
      maxRequestBodySize: largestRequestBytes,
      idleTimeout: idleSeconds,
    }),
  )

  function reload(config: Config, issuerKeys: KeySource | null) {
    deps.retentionDays = config.retentionDays
    // The gate keeps this object, so it is changed in place.
    Object.assign(tokens, tokensFor(config, clock, issuerKeys))
    provider = signInProviderOf(config, issuerKeys)
    outside = outsideOf(config)
  }

  /** Resolves once requests in flight are answered and no new ones are taken. */
  async function stop() {
    const { server } = app
    // Stops accepting, answers what is in flight, and closes idle connections.
    const drained = server?.stop(false)
    await Promise.race([drained, Bun.sleep(drainMs)])
    await server?.stop(true)
    await door.stop(true)
    limits.close()
    flows.close()
  }
  return { counters, limits, reload, stop }
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
