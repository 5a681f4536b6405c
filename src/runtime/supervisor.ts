import type { ServerFigures } from '../app.ts'
import type { Config } from '../config/settings.ts'
import { shortReasonOf } from '../core/text/reason.ts'
import type { Clock } from '../core/time/clock.ts'
import { minuteMs } from '../core/time/durations.ts'
import { LimitsBoard } from '../limits/limits-board.ts'
import { SharedMemoryLimiter } from '../limits/shared-memory.ts'
import { mostOrganisations, newSharedMemory } from '../storage/shared/boards.ts'
import { CommitCounters, type CountedRoute, HttpCounters } from './counters.ts'
import type { IssuerKeys, KnownKeys } from './issuer-keys.ts'
import { socketFile } from './lock.ts'
import type { Log } from './log.ts'
import type {
  AlertThreadStart,
  HttpThreadStart,
  LookForAlerts,
  Reloaded,
  Stop,
  ThreadReport,
  ThreadStart,
} from './protocol.ts'
import { Pulse } from './pulse.ts'
import {
  alertThread,
  httpThread,
  type NewThread,
  startThread,
  storageThread,
  type Thread,
} from './threads.ts'

/** Pause before a dead thread is started again: doubled each time, up to the longest. */
const firstRestartMs = 100
const longestRestartMs = 10_000
/** A thread that lived this long has not died of the same cause, so the pause starts over. */
const stableAfterMs = minuteMs
/** How long the HTTP threads have to finish requests in flight, which they give up after ten seconds. */
const stopWithinMs = 12_000

/** The one HTTP thread that lets the operator in. */
const operatorsThread = 'http-1'

/** What threads are told about their server, as it is at the moment. */
export interface Supervised {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
  /** Which thread may write to the log. */
  readonly logMutex: SharedArrayBuffer
  /** Null if session tokens are signed with a secret. */
  readonly issuerKeys: IssuerKeys | null
  /** The figures of the server. */
  figures(): Promise<ServerFigures>
  /** Called when nothing can be written any more. */
  onStorageDead(): void
}

/** Threads that wait to be started. */
export interface LoadedThreads {
  /**
   * @param isStorageFirst whether nobody reads before storage is open; otherwise reads are answered before it
   *   has taken up everything that is stored, and only writes wait for it
   */
  start(isStorageFirst?: boolean): Promise<void>
  abandon(): void
}

/** The threads of a server: starts them, listens to them, restarts those that die, stops them. */
export class Supervisor {
  readonly shared = newSharedMemory()
  readonly commitCounters = CommitCounters.memory()
  /** By name, so that a thread that is restarted goes on counting. */
  private readonly httpCounters = new Map<string, SharedArrayBuffer>()
  private readonly limitsBoards = new Map<string, SharedArrayBuffer>()
  private readonly pulses = new Map<string, Pulse>()
  private readonly windows = SharedMemoryLimiter.memory(mostOrganisations)
  private readonly restartPauses = new Map<string, number>()
  private readonly http = new Map<string, Thread>()
  private storage: Thread | null = null
  private alerts: Thread | null = null
  private isAlertsStarting = false
  private isStopping = false
  private restarts = 0
  /** The routes that the HTTP threads count, as they report them. */
  routes: readonly CountedRoute[] = []

  constructor(private readonly server: Supervised) {}

  get all(): Thread[] {
    return [...this.http.values(), this.alerts, this.storage].filter(thread => thread !== null)
  }

  get httpThreads() {
    const { threads: configured } = this.server.config
    return { up: this.http.size, configured, restarts: this.restarts }
  }

  get countersOfHttp(): SharedArrayBuffer[] {
    return [...this.httpCounters.values()]
  }

  /** The state of a limiter on another machine, as each HTTP thread sees it. */
  get limits(): LimitsBoard[] {
    return [...this.limitsBoards.values()].map(memory => new LimitsBoard(memory))
  }

  /** For how long each thread has not turned, milliseconds, by name. */
  get silentMs(): Map<string, number> {
    const now = this.server.clock.monotonic()
    return new Map([...this.pulses].map(([name, pulse]) => [name, pulse.silentMs(now)]))
  }

  /** Makes all threads, which load their source and wait. */
  load(): LoadedThreads {
    const { clock, config } = this.server
    const storage = storageThread(clock)
    const http = Array.from({ length: config.threads }, () => httpThread(clock))
    return {
      start: async isStorageFirst => {
        const started = this.startStorage(storage)
        if (isStorageFirst) await started
        await Promise.all([
          started,
          ...http.map((made, i) => this.startHttp(made, `http-${i + 1}`)),
        ])
      },
      abandon: () => {
        this.isStopping = true
        for (const { worker } of [storage, ...http]) worker.terminate()
      },
    }
  }

  private threadStart(
    name: string,
    { madeAt }: NewThread,
    counters: SharedArrayBuffer,
    isRestart = false,
  ): ThreadStart {
    const { config, logMutex } = this.server
    const pulse = Pulse.memory()
    this.pulses.set(name, new Pulse(pulse))
    return {
      type: 'start',
      name,
      config,
      shared: this.shared,
      counters,
      pulse,
      logMutex,
      madeAt,
      failpoints: isRestart ? undefined : process.env.CAIRN_FAILPOINTS,
    }
  }

  private async startStorage(made: NewThread): Promise<void> {
    const start = this.threadStart('storage', made, this.commitCounters)
    const thread = startThread(made.worker, start, [])
    this.storage = thread
    await thread.ready
    thread.ended.then(reason => {
      if (this.isStopping && reason === null) return
      this.isStopping = true
      this.server.log.fatal({ reason }, 'the storage thread has died: nothing can be written')
      this.server.onStorageDead()
    })
  }

  private async startHttp(made: NewThread, name: string, isRestart = false): Promise<void> {
    const { port1, port2 } = new MessageChannel()
    this.storage?.worker.postMessage({ type: 'join', port: port1 }, [port1])
    const counters = this.httpCounters.get(name) ?? HttpCounters.memory()
    this.httpCounters.set(name, counters)
    const limits = this.limitsBoards.get(name) ?? LimitsBoard.memory()
    this.limitsBoards.set(name, limits)
    const { config } = this.server
    const message: HttpThreadStart = {
      ...this.threadStart(name, made, counters, isRestart),
      storage: port2,
      windows: this.windows,
      limits,
      issuerKeys: this.knownKeys,
      socket: name === operatorsThread ? socketFile(config.data) : null,
    }
    const thread = startThread(made.worker, message, [port2])
    thread.worker.addEventListener('message', async ({ data }: MessageEvent<ThreadReport>) => {
      if (data.type === 'alerts_wanted') this.wantAlerts()
      if (data.type === 'figures_wanted') data.answer.postMessage(await this.server.figures())
      if (data.type !== 'issuer_keys_wanted') return
      await this.server.issuerKeys?.renew()
      this.tell(thread)
    })
    const { routes } = await thread.ready.catch(error => {
      thread.worker.terminate()
      throw error
    })
    // The server may have begun to stop meanwhile, without knowing of this thread.
    if (this.isStopping) thread.worker.terminate()
    this.http.set(name, thread)
    // Settings may have changed, and keys been fetched, while it started.
    this.tell(thread)
    if (routes) this.routes = routes
    if (isRestart) this.restarts++
    this.keepAlive(name, thread)
  }

  /** How long to wait before a dead thread is started again. */
  private restartPauseOf(name: string): number {
    const pauseMs = this.restartPauses.get(name) ?? firstRestartMs
    this.restartPauses.set(name, Math.min(pauseMs * 2, longestRestartMs))
    return pauseMs
  }

  /** Restarts an HTTP thread when it dies, after a longer pause each time. */
  private async keepAlive(name: string, thread: Thread): Promise<void> {
    const { clock, log } = this.server
    const startedAt = clock.monotonic()
    let reason = await thread.ended
    this.http.delete(name)
    this.pulses.delete(name)
    if (this.isStopping) return
    thread.worker.terminate()
    if (clock.monotonic() - startedAt > stableAfterMs) this.restartPauses.delete(name)
    while (!this.isStopping) {
      const pauseMs = this.restartPauseOf(name)
      log.error({ reason, dead: name, restartInMs: pauseMs }, 'an HTTP thread has died')
      await Bun.sleep(pauseMs)
      try {
        if (!this.isStopping) await this.startHttp(httpThread(clock), name, true)
        return
      } catch (error) {
        reason = shortReasonOf(error)
      }
    }
  }

  /**
   * Has alerts looked after from now on, and looked at soon, by a thread that is made once anybody wants it.
   * If the thread dies it is made again, and goes on with what is stored.
   */
  async wantAlerts(): Promise<void> {
    this.alerts?.worker.postMessage({ type: 'look' } satisfies LookForAlerts)
    if (this.alerts || this.isAlertsStarting || this.isStopping) return
    this.isAlertsStarting = true
    const { clock, log } = this.server
    const startedAt = clock.monotonic()
    const isRestart = this.restartPauses.has('alerts')
    let reason: string | null = null
    try {
      const made = alertThread(clock)
      const { port1, port2 } = new MessageChannel()
      this.storage?.worker.postMessage({ type: 'join', port: port1 }, [port1])
      const message: AlertThreadStart = {
        ...this.threadStart('alerts', made, new SharedArrayBuffer(8), isRestart),
        storage: port2,
      }
      const thread = startThread(made.worker, message, [port2])
      await thread.ready
      this.alerts = thread
      this.isAlertsStarting = false
      // Settings may have changed, and alerts been asked for again, while it started.
      this.tell(thread)
      if (this.isStopping) thread.worker.postMessage({ type: 'stop' } satisfies Stop)
      reason = await thread.ended
      thread.worker.terminate()
    } catch (error) {
      reason = shortReasonOf(error)
    }
    this.alerts = null
    this.isAlertsStarting = false
    this.pulses.delete('alerts')
    if (this.isStopping) return
    if (clock.monotonic() - startedAt > stableAfterMs) this.restartPauses.delete('alerts')
    const pauseMs = this.restartPauseOf('alerts')
    log.error({ reason, restartInMs: pauseMs }, 'the thread of alerts has died')
    await Bun.sleep(pauseMs)
    await this.wantAlerts()
  }

  private get knownKeys(): KnownKeys {
    return this.server.issuerKeys?.known ?? { keys: [], renewableAt: Number.POSITIVE_INFINITY }
  }

  /** Tells threads the settings and the identity provider's keys, as they are now. */
  tell(...threads: readonly Thread[]): void {
    const { config } = this.server
    const message: Reloaded = { type: 'reloaded', config, issuerKeys: this.knownKeys }
    for (const { worker } of threads) worker.postMessage(message)
  }

  /** Resolves once requests in flight are answered and no new ones are taken. */
  async stopHttp(): Promise<void> {
    this.isStopping = true
    const threads = [...this.http.values(), ...(this.alerts ? [this.alerts] : [])]
    for (const { worker } of threads) worker.postMessage({ type: 'stop' } satisfies Stop)
    // A thread that does not even report that it gave up is not waited for any longer.
    await Promise.race([Promise.all(threads.map(({ ended }) => ended)), Bun.sleep(stopWithinMs)])
  }

  /** Resolves once everything is written and closed, with whether that went well. */
  async stopStorage(): Promise<boolean> {
    this.storage?.worker.postMessage({ type: 'stop' } satisfies Stop)
    return (await this.storage?.ended) === null
  }
}
