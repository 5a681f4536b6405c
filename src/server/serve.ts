import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { isatty } from 'node:tty'
import { type Config, ConfigError, type ReadConfig, type SettingName } from '../config.ts'
import { shortReasonOf } from '../core/text/reason.ts'
import { shellWord } from '../core/text/wording.ts'
import { minuteMs } from '../core/time/durations.ts'
import { version } from '../core/version.ts'
import { armFailpoints } from '../failpoints.ts'
import { SharedMemoryLimiter } from '../limits/shared-memory.ts'
import { type PreparedDatabase, prepareDatabase } from '../storage/database/prepare.ts'
import { IdentityBoard } from '../storage/organisations/identity-board.ts'
import { mostOrganisations, newSharedMemory } from '../storage/shared.ts'
import { BufferGauge } from '../storage/writer/buffer-gauge.ts'
import { BackupSchedule } from './backup-schedule.ts'
import { CommitCounters } from './commit-counters.ts'
import { DiskWatch } from './disk-watch.ts'
import { type CountedRoute, HttpCounters } from './http-counters.ts'
import { providerOf } from './identity-provider.ts'
import { IssuerKeys } from './issuer-keys.ts'
import { acquireLock, type Lock, type LockHolder, socketFile } from './lock.ts'
import { type Log, openLog } from './log.ts'
import { serveManagement } from './management.ts'
import { renderMetrics } from './metrics.ts'
import { Mutex } from './mutex.ts'
import { claimPorts, keepPort } from './ports.ts'
import { Preparation } from './preparation.ts'
import type { Prepared, Task } from './preparation-thread.ts'
import type {
  HttpThreadStart,
  IssuerKeysKnown,
  Reloaded,
  ThreadReport,
  ThreadStart,
} from './protocol.ts'
import { Pulse } from './pulse.ts'
import { isHopeless, type ServerState, whyNotReady } from './readiness.ts'
import { reloadOf } from './reload.ts'
import { ServiceManager } from './service-manager.ts'
import { keepSnippet } from './snippet-versions.ts'
import { systemClock } from './system-clock.ts'
import {
  httpThread,
  type NewThread,
  preparationThread,
  startThread,
  storageThread,
  type Thread,
} from './threads.ts'
import { tokenModeOf } from './token-mode.ts'
import { ownTokensFor } from './tokens.ts'
import { readTraffic } from './traffic.ts'

/** A server that answers. */
export interface Running {
  url: string
  managementUrl: string
  /** What the operator should know, though it serves. */
  warnings: readonly string[]
  /** Says it in the server's log. */
  warn(message: string): void
  /** Resolves with the exit status once everything is stopped. */
  stopped: Promise<number>
  /** Not ready, stop accepting, finish what is in flight, flush, checkpoint. */
  stop(): void
}

/** Pause before a dead HTTP thread is started again: doubled each time, up to the longest. */
const firstRestartMs = 100
const longestRestartMs = 10_000
/** How long the HTTP threads have to finish what is in flight, which they give up after ten seconds. */
const stopWithinMs = 12_000
/** How often it is looked whether the identity provider's keys are due. */
const lookEveryMs = 1_000
/** How often the service manager is told how this is, milliseconds; what it asks for if that is more often. */
const tellEveryMs = 1_000
/** How long the service manager is asked to go on waiting while this starts, each time it is told. */
const startsWithinMs = 60_000
/** A thread that lived this long has not died of the same cause: the pause begins anew. */
const stableAfterMs = minuteMs

/** The one HTTP thread that lets the operator in. */
const operatorsThread = 'http-1'

/** Reads the settings again, as a reload needs. */
export type Reread = () => Pick<ReadConfig<SettingName>, 'config' | 'warnings'>

/**
 * Puts the server together: the lock, the storage thread, the HTTP threads, the management port.
 * Resolves once it answers; throws, with everything released, where it cannot.
 */
export async function serve(
  given: Config,
  reread: Reread = () => ({ config: given, warnings: [] }),
): Promise<Running> {
  // Each thread arms its own; a name that is wrong is refused here.
  armFailpoints(process.env.CAIRN_FAILPOINTS)
  const holder = {
    pid: process.pid,
    host: hostname(),
    startedAt: new Date().toISOString(),
    port: given.port,
    managementHost: given.managementHost,
    managementPort: given.managementPort,
    version,
    sessionTokens: tokenModeOf(given),
  }
  const lock = acquireLock(given.data, holder)
  try {
    const ports = claimPorts(given)
    lock.describe({ ...holder, ...ports })
    const held = { lock, holder: { ...holder, ...ports } }
    const letGo = given.port === 0 ? keepPort(given.host, ports.port) : () => {}
    try {
      return await new Server({ ...given, ...ports }, held, { asked: given, reread }).start()
    } finally {
      letGo()
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

/** Organisations may come later; more often the commands were given another directory. */
const noOrganisation = (dataDir: string) =>
  `there is no organisation in this data directory yet: cairn org create NAME --data ${shellWord(resolve(dataDir))}`

const erasuresUnfinished = (reason: string) =>
  `unused parts of the files may still hold what was erased (${reason}): the next start tries again`

class Server {
  private readonly shared = newSharedMemory()
  private readonly windows = SharedMemoryLimiter.memory(mostOrganisations)
  private readonly logTurns = Mutex.memory()
  private readonly clock = systemClock()
  private readonly gauge: BufferGauge
  private readonly identity: IdentityBoard
  private readonly disk: DiskWatch
  private readonly backups: BackupSchedule
  private readonly commitCounters = CommitCounters.memory()
  /** By name, so that a thread that is started again counts on. */
  private readonly httpCounters = new Map<string, SharedArrayBuffer>()
  private readonly pulses = new Map<string, Pulse>()
  private routes: readonly CountedRoute[] = []
  private readonly log: Log
  /** Null where nobody wants to know. */
  private readonly manager: ServiceManager | null
  /** Null where session tokens are over a secret. */
  private issuerKeys: IssuerKeys | null
  private storage: Thread | null = null
  private readonly threads = new Map<string, Thread>()
  private readonly failpoints = process.env.CAIRN_FAILPOINTS
  private readonly restartPauses = new Map<string, number>()
  private readonly exit = Promise.withResolvers<number>()
  private management: Bun.Server<undefined> | null = null
  private phase: 'starting' | 'serving' | 'stopping' = 'starting'
  private preparation: Preparation | null = null
  private restarts = 0
  /** How the latest reading of the settings went, and when one last went well; Unix milliseconds. */
  private readonly reloads = { wentWell: true, lastGoodAt: Date.now() }

  constructor(
    private config: Config,
    private readonly held: { lock: Lock; holder: LockHolder },
    private readonly settings: { asked: Config; reread: Reread },
  ) {
    this.gauge = new BufferGauge(this.shared.buffer, this.bufferBounds)
    this.identity = new IdentityBoard(this.shared.identity)
    this.disk = new DiskWatch(config.data, this.clock.monotonic)
    this.log = openLog(config, 'main', this.logTurns).log
    this.manager = ServiceManager.from(process.env, this.log)
    this.issuerKeys = this.issuerKeysFor(config)
    this.backups = new BackupSchedule(() => this.config, this.clock, this.log)
  }

  private issuerKeysFor(config: Config): IssuerKeys | null {
    const provider = providerOf(config)
    const tell = () => this.handIssuerKeys([...this.threads.values()])
    return provider && new IssuerKeys(provider, config.data, this.clock, this.log, tell)
  }

  private get bufferBounds() {
    return { events: this.config.bufferEvents, bytes: this.config.bufferBytes }
  }

  private get allThreads(): Thread[] {
    return [...this.threads.values(), ...(this.storage ? [this.storage] : [])]
  }

  private get isStopping() {
    return this.phase === 'stopping'
  }

  async start(): Promise<Running> {
    const { config } = this
    // Made here once, so that the threads do not race to make it.
    if (this.issuerKeys === null) ownTokensFor(config, this.clock)
    this.management = serveManagement(
      {
        hostname: config.managementHost,
        port: config.managementPort,
      },
      {
        notReady: () => this.notReady(),
        metrics: () => this.metrics(),
        traffic: () => readTraffic(this.config.data, this.allThreads),
      },
    )
    const warnings: string[] = []
    const started = this.tellOfStart()
    // They load while the database is prepared.
    const storage = storageThread(this.clock)
    const http = Array.from({ length: config.threads }, () => httpThread(this.clock))
    try {
      const prepared = await this.prepare(warnings)
      if (!prepared.hasOrganisation()) warnings.push(noOrganisation(config.data))
      keepSnippet(config.data)
      this.watchIssuer()
      // Reads are answered before storage has taken up all that is stored; writes wait for it.
      await Promise.all([
        this.startStorage(storage),
        this.disk.start(),
        ...http.map((made, i) => this.startHttp(made, `http-${i + 1}`)),
      ])
      prepared.close()
    } catch (error) {
      this.phase = 'stopping'
      this.management.stop(true)
      for (const { worker } of [storage, ...http]) worker.terminate()
      throw error
    } finally {
      started()
    }
    if (!this.isStopping) {
      this.phase = 'serving'
      this.backups.start()
    }
    this.watchSignals()
    const shownHost = config.host === '0.0.0.0' || config.host === '::' ? 'localhost' : config.host
    const running: Running = {
      url: `http://${shownHost}:${config.port}`,
      managementUrl: `http://${config.managementHost}:${this.management.port}`,
      warnings,
      warn: message => this.log.warn(message),
      stopped: this.exit.promise,
      stop: () => this.stop(),
    }
    const { url, managementUrl } = running
    this.log.info({ url, managementUrl, version }, 'ready')
    this.tellManager(url)
    return running
  }

  /** Tells the service manager what takes so long, until what this returns is called. */
  private tellOfStart(): () => void {
    const { manager } = this
    manager?.status('Preparing the database')
    const tell = () => manager?.starting(this.preparation?.text ?? 'Starting', startsWithinMs)
    const telling = setInterval(tell, tellEveryMs)
    return () => clearInterval(telling)
  }

  /** The database as this release wants it, and without whoever was to be erased. */
  private async prepare(warnings: string[]): Promise<PreparedDatabase> {
    const { clock, config, log } = this
    const open = () => prepareDatabase(config.data, clock.now())
    let prepared = open()
    const { due } = prepared
    if (due.length > 0) {
      prepared.close()
      const steps = due.map(({ id, name }) => `${id} ${name}`)
      log.info({ steps }, 'the database is brought up to date before this server is ready')
      await this.beforeServing('upgrade')
      prepared = open()
    }
    if (prepared.erasuresDue()) {
      prepared.close()
      log.info('people on the list of erasures are erased before this server is ready')
      const { unfinished } = await this.beforeServing('erasures')
      if (unfinished !== null) warnings.push(erasuresUnfinished(unfinished))
      prepared = open()
    }
    return prepared
  }

  /** Nobody is answered meanwhile but on the management port; a signal to stop ends it at once. */
  private async beforeServing<Of extends Task>(task: Of): Promise<Prepared[Of]> {
    const { log, clock, config, held, failpoints } = this
    const giveUp = (signal: string) => {
      log.info({ signal }, 'stopped before the database was ready; the next start goes on')
      log.flush()
      held.lock.release()
      process.exit(0)
    }
    // Nothing to read again yet: without this it would end the process.
    const reload = () => log.info('settings are read again once this server is ready')
    process
      .on('SIGTERM', giveUp)
      .on('SIGINT', giveUp)
      .on('SIGHUP', isatty(0) ? giveUp : reload)
    const preparation = new Preparation(task, log, clock.monotonic)
    this.preparation = preparation
    const start = { dataDir: config.data, now: clock.now(), failpoints }
    const done = await preparation.run(preparationThread(), start)
    this.preparation = null
    process.off('SIGTERM', giveUp).off('SIGINT', giveUp).off('SIGHUP', giveUp).off('SIGHUP', reload)
    return done
  }

  private threadStart(
    name: string,
    { madeAt }: NewThread,
    counters: SharedArrayBuffer,
    isRestart = false,
  ): ThreadStart {
    const pulse = Pulse.memory()
    this.pulses.set(name, new Pulse(pulse))
    return {
      type: 'start',
      name,
      config: this.config,
      shared: this.shared,
      counters,
      pulse,
      logTurns: this.logTurns,
      madeAt,
      failpoints: isRestart ? undefined : this.failpoints,
    }
  }

  private async startStorage(made: NewThread): Promise<void> {
    const start = this.threadStart('storage', made, this.commitCounters)
    const thread = startThread(made.worker, start, [])
    this.storage = thread
    await thread.ready
    thread.ended.then(reason => {
      if (this.isStopping && reason === null) return
      this.log.fatal({ reason }, 'the storage thread has died: nothing can be written')
      this.finish(1)
    })
  }

  private async startHttp(made: NewThread, name: string, isRestart = false): Promise<void> {
    const { port1, port2 } = new MessageChannel()
    this.storage?.worker.postMessage({ type: 'join', port: port1 }, [port1])
    const counters = this.httpCounters.get(name) ?? HttpCounters.memory()
    this.httpCounters.set(name, counters)
    const message: HttpThreadStart = {
      ...this.threadStart(name, made, counters, isRestart),
      storage: port2,
      windows: this.windows,
      issuerKeys: this.knownKeys,
      socket: name === operatorsThread ? socketFile(this.config.data) : null,
    }
    const { config } = this
    const thread = startThread(made.worker, message, [port2])
    thread.worker.addEventListener('message', async ({ data }: MessageEvent<ThreadReport>) => {
      if (data.type !== 'issuer_keys_wanted') return
      await this.issuerKeys?.renew()
      this.handIssuerKeys([thread])
    })
    const { routes } = await thread.ready.catch(error => {
      thread.worker.terminate()
      throw error
    })
    // The server may have begun to stop meanwhile, and not known of this thread.
    if (this.isStopping) thread.worker.terminate()
    this.threads.set(name, thread)
    // They may have been fetched, and settings changed, while it started.
    if (config === this.config) this.handIssuerKeys([thread])
    else thread.worker.postMessage(this.reloaded)
    if (routes) this.routes = routes
    if (isRestart) this.restarts++
    this.keepAlive(name, thread)
  }

  /** Begins to fetch the identity provider's keys. Nobody waits for it: the provider may be down. */
  private watchIssuer(): void {
    this.issuerKeys?.refresh()
    setInterval(() => this.issuerKeys?.refresh(), lookEveryMs).unref()
  }

  private get knownKeys(): IssuerKeysKnown['known'] {
    return this.issuerKeys?.known ?? { keys: [], renewableAt: Number.POSITIVE_INFINITY }
  }

  private handIssuerKeys(threads: readonly Thread[]): void {
    if (this.issuerKeys === null) return
    const message: IssuerKeysKnown = { type: 'issuer_keys', known: this.knownKeys }
    for (const { worker } of threads) worker.postMessage(message)
  }

  /** Starts an HTTP thread again when it dies, more patiently each time. */
  private keepAlive(name: string, thread: Thread): void {
    const startedAt = this.clock.monotonic()
    thread.ended.then(async reason => {
      this.threads.delete(name)
      this.pulses.delete(name)
      if (this.isStopping) return
      thread.worker.terminate()
      const wasStable = this.clock.monotonic() - startedAt > stableAfterMs
      if (wasStable) this.restartPauses.delete(name)
      for (let cause = reason; !this.isStopping; ) {
        const pauseMs = this.restartPauses.get(name) ?? firstRestartMs
        this.restartPauses.set(name, Math.min(pauseMs * 2, longestRestartMs))
        this.log.error(
          { reason: cause, dead: name, restartInMs: pauseMs },
          'an HTTP thread has died',
        )
        await Bun.sleep(pauseMs)
        try {
          if (!this.isStopping) await this.startHttp(httpThread(this.clock), name, true)
          return
        } catch (error) {
          cause = shortReasonOf(error)
        }
      }
    })
  }

  private get state(): ServerState {
    const now = this.clock.monotonic()
    const { phase, config, gauge, disk } = this
    return {
      phase,
      preparing: this.preparation?.text ?? null,
      dataDir: config.data,
      httpThreads: { up: this.threads.size, configured: config.threads },
      silentMs: new Map([...this.pulses].map(([name, pulse]) => [name, pulse.silentMs(now)])),
      gauge,
      disk,
    }
  }

  private notReady(): string[] {
    return whyNotReady(this.state)
  }

  /** Tells systemd, where it supervises this, that it is ready, and from then on how it is. */
  private tellManager(url: string): void {
    const { manager } = this
    if (manager === null) return
    const statusNow = () => {
      const reasons = this.notReady()
      return reasons.length === 0 ? `Serving ${url}` : `Not ready: ${reasons.join('; ')}`
    }
    let told = statusNow()
    manager.status(told)
    manager.ready()
    // A third of what it waits for: one that comes late is no reason to be restarted.
    const everyMs = Math.min(tellEveryMs, (manager.watchdogMs ?? Number.POSITIVE_INFINITY) / 3)
    const tell = () => {
      if (this.isStopping) return
      if (manager.watchdogMs !== null && !isHopeless(this.state)) manager.alive()
      const status = statusNow()
      if (status !== told) manager.status(status)
      told = status
    }
    tell()
    setInterval(tell, everyMs).unref()
  }

  private metrics(): string {
    return renderMetrics({
      httpCounters: [...this.httpCounters.values()],
      commitCounters: this.commitCounters,
      routes: this.routes,
      gauge: this.gauge,
      bounds: this.bufferBounds,
      disk: this.disk,
      httpThreads: {
        up: this.threads.size,
        configured: this.config.threads,
        restarts: this.restarts,
      },
      identity: this.identity,
      catalogueGeneration: Atomics.load(new Int32Array(this.shared.generation), 0),
      isReady: this.notReady().length === 0,
      reloads: this.reloads,
      backups: this.backups.seen,
    })
  }

  /** Reads the settings anew and takes up what it can; where one is wrong, nothing changes. */
  private reload(): void {
    if (this.phase !== 'serving') return
    this.manager?.reloading()
    try {
      const { config: next, warnings } = this.settings.reread()
      const { config, changed, waiting } = reloadOf(this.config, this.settings.asked, next)
      if (changed.length > 0) this.take(config)
      // Said by the more talkative of the two levels.
      if (!this.log.isLevelEnabled('info')) this.log.level = config.logLevel
      this.log.info({ changed }, changed.length > 0 ? 'settings taken up' : 'no setting changed')
      if (waiting.length > 0) this.log.warn({ waiting }, 'changed settings wait for a restart')
      for (const warning of warnings) this.log.warn(warning)
      this.log.level = config.logLevel
      this.reloads.lastGoodAt = this.clock.now()
      this.reloads.wentWell = true
    } catch (error) {
      this.reloads.wentWell = false
      const reasons = error instanceof ConfigError ? error.lines : [shortReasonOf(error)]
      this.log.error({ reasons }, 'the new settings are wrong: those of before go on')
    }
    this.manager?.ready()
  }

  private take(config: Config): void {
    // What can fail comes first.
    if (providerOf(config) === null) ownTokensFor(config, this.clock)
    const isSameIssuer = Bun.deepEquals(providerOf(config), providerOf(this.config))
    const { lock, holder } = this.held
    holder.sessionTokens = tokenModeOf(config)
    lock.describe(holder)
    this.config = config
    if (!isSameIssuer) this.issuerKeys = this.issuerKeysFor(config)
    this.issuerKeys?.refresh()
    for (const { worker } of this.allThreads) worker.postMessage(this.reloaded)
  }

  private get reloaded(): Reloaded {
    return { type: 'reloaded', config: this.config, issuerKeys: this.knownKeys }
  }

  private watchSignals(): void {
    // In a terminal it means that the terminal is gone, elsewhere that the settings have changed.
    const isTerminal = isatty(0)
    if (!isTerminal) process.on('SIGHUP', () => this.reload())
    for (const signal of ['SIGTERM', 'SIGINT', ...(isTerminal ? ['SIGHUP'] : [])]) {
      process.on(signal, () => {
        if (this.isStopping) process.exit(130)
        this.log.info({ signal }, 'stopping')
        this.stop()
      })
    }
  }

  private async stop(): Promise<void> {
    if (this.isStopping) return
    this.phase = 'stopping'
    this.manager?.stopping()
    const threads = [...this.threads.values()]
    for (const { worker } of threads) worker.postMessage({ type: 'stop' })
    // A thread that does not even say that it gave up is not waited for any longer.
    await Promise.race([Promise.all(threads.map(({ ended }) => ended)), Bun.sleep(stopWithinMs)])
    // It reads the database, whose log is about to be cut back.
    await this.backups.stop()
    this.storage?.worker.postMessage({ type: 'stop' })
    const reason = await this.storage?.ended
    if (reason === null) this.finish(0)
  }

  private finish(status: number): void {
    this.phase = 'stopping'
    this.disk.stop()
    this.management?.stop(true)
    this.held.lock.release()
    this.log.info({ status }, 'stopped')
    this.log.flush()
    this.exit.resolve(status)
  }
}
