import { hostname } from 'node:os'
import { isatty } from 'node:tty'
import type { ServerFigures } from '../app.ts'
import { ConfigError, type ReadConfig } from '../config/read-config.ts'
import type { Config, SettingName } from '../config/settings.ts'
import { noUserHashes } from '../core/organisation/verified-identity.ts'
import { reasonOf, shortReasonOf } from '../core/reason.ts'
import { version } from '../core/version.ts'
import { armFailpoints } from '../failpoints.ts'
import { databasePlace } from '../storage/log/postgres/inspection.ts'
import { LiveState } from '../storage/shared/live-state.ts'
import { hasAlerts } from '../storage/sqlite/alerts/alert-store.ts'
import { StorageCalls } from '../storage/sqlite/writer/calls.ts'
import { Alerts } from './alerts.ts'
import { BackupSchedule } from './backup-schedule.ts'
import { Collector, maxGrowthBytes, ownHeap } from './collector.ts'
import { type ConnectedStorage, connectStorage } from './connect-storage.ts'
import { CommitCounters } from './counters.ts'
import { DiskWatch } from './disk-watch.ts'
import type { Exposition } from './exposition.ts'
import { figuresOf } from './figures.ts'
import { maxHeaderSize } from './header-size.ts'
import { type HttpServer, openHttp } from './http-server.ts'
import { providerOf } from './identity-provider.ts'
import { IssuerKeys } from './issuer-keys.ts'
import { acquireLock, type Lock, type LockHolder } from './lock.ts'
import { type Log, openLog, type ServerLog } from './log.ts'
import { serveManagement } from './management.ts'
import { metricsOf } from './metrics.ts'
import { type OpenStorage, openStorage } from './open-storage.ts'
import { prepareData, requireLimits } from './opening.ts'
import { claimPorts, type HeldPort, holdPort, portSetting } from './ports.ts'
import { type ServerState, warningsOf, whyNotReady } from './readiness.ts'
import { reloadOf } from './reload.ts'
import { ServiceManager } from './service-manager.ts'
import { tellOfService, tellOfStart } from './service-updates.ts'
import { sessionKey } from './session-key.ts'
import { systemClock } from './system-clock.ts'
import { tokenModeOf } from './token-mode.ts'
import { ownTokensFor } from './tokens.ts'

/** A server that answers. */
export interface Running {
  url: string
  managementUrl: string
  /** What the operator should know although it serves. */
  warnings: readonly string[]
  /** Writes a warning to the server's log. */
  warn(message: string): void
  /** Resolves with the exit status once everything is stopped. */
  stopped: Promise<number>
  /** In this order: not ready, stop accepting, finish what is in flight, flush, checkpoint. */
  stop(): void
}

/** How often the server checks whether the identity provider's keys are due. */
const lookEveryMs = 1_000
/** How long a stopping node goes on answering, so that balancers first notice that it is not ready; milliseconds. */
const noticedWithinMs = 5_000
/** There is a balancer if somebody has checked whether the node is ready within this time, milliseconds. */
const checkedEveryMs = 10_000

/** Reads the settings again, for a reload. */
export type Reread = () => Pick<ReadConfig<SettingName>, 'config' | 'warnings'>

/**
 * Puts the server together: the lock, storage, the API's port, the management port. Resolves
 * once it answers; throws, with everything released, if it cannot.
 */
export async function serve(
  given: Config,
  reread: Reread = () => ({ config: given, warnings: [] }),
): Promise<Running> {
  armFailpoints(process.env.CAIRN_FAILPOINTS)
  maxHeaderSize()
  const holder = {
    pid: process.pid,
    host: hostname(),
    startedAt: new Date().toISOString(),
    port: given.port,
    managementHost: given.managementHost,
    managementPort: given.managementPort,
    version,
    database: given.databaseUrl === null ? null : databasePlace(given.databaseUrl),
    sessionTokens: tokenModeOf(given),
  }
  const lock = acquireLock(given.data, holder)
  let kept: HeldPort | null = null
  try {
    const ports = claimPorts(given)
    lock.describe({ ...holder, ...ports })
    const held = { lock, holder: { ...holder, ...ports } }
    // Otherwise the system would give a port that it has chosen to the next program that asks for any.
    if (given.port === 0) kept = holdPort(given.host, ports.port, portSetting)
    const settings = { given, reread }
    return await new Server({ ...given, ...ports }, held, settings, () => kept?.letGo()).start()
  } catch (error) {
    kept?.letGo()
    lock.release()
    throw error
  }
}

class Server {
  readonly clock = systemClock()
  readonly log: Log
  private readonly ownLog: ServerLog
  /** Null if session tokens are signed with a secret. */
  private issuerKeys: IssuerKeys | null
  private readonly live: LiveState
  private readonly commits = new CommitCounters()
  /** When somebody last checked whether it is ready, by the monotonic clock. */
  private checkedAt = Number.NEGATIVE_INFINITY
  private readonly disk: DiskWatch
  private readonly backups: BackupSchedule
  /** Null if no service manager wants the status. */
  private readonly manager: ServiceManager | null
  /** What is being done to the database before it is served; null if nothing is. */
  private preparing: string | null = null
  /** What the operator should know although it serves. */
  private readonly warnings: string[] = []
  private readonly exit = Promise.withResolvers<number>()
  private management: Bun.Server<undefined> | null = null
  /** Null until requests are answered, as are the three that follow. */
  private http: HttpServer | null = null
  private alerts: Alerts | null = null
  private storage: OpenStorage | null = null
  private stores: ConnectedStorage | null = null
  private phase: 'starting' | 'serving' | 'stopping' = 'starting'
  /** Whether a reload was requested before there was anything that could take up new settings. */
  private isReloadDue = false
  /** Whether the latest reload of the settings succeeded, and when one last did; Unix milliseconds. */
  private readonly reloads = { wentWell: true, lastGoodAt: Date.now() }

  constructor(
    public config: Config,
    private readonly held: { lock: Lock; holder: LockHolder },
    private readonly settings: { given: Config; reread: Reread },
    private readonly letGoOfPort: () => void,
  ) {
    this.live = new LiveState({ events: config.bufferEvents, bytes: config.bufferBytes })
    this.disk = new DiskWatch(config.data, this.clock.monotonic)
    this.ownLog = openLog(config)
    this.log = this.ownLog.log
    this.manager = ServiceManager.from(process.env, this.log)
    this.issuerKeys = this.issuerKeysFor(config)
    this.backups = new BackupSchedule(() => this.config, this.clock, this.log)
  }

  private issuerKeysFor(config: Config): IssuerKeys | null {
    const provider = providerOf(config)
    return provider && new IssuerKeys(provider, config.data, this.clock, this.log)
  }

  /** The state of this node among others; null for a server alone. */
  private get node() {
    return this.config.databaseUrl === null ? null : this.live.node
  }

  private get isStopping() {
    return this.phase === 'stopping'
  }

  async start(): Promise<Running> {
    const { config } = this
    this.watchSignals()
    this.watchErrors()
    // A key that cannot be used is reported before anything is done to the database.
    if (this.issuerKeys === null) ownTokensFor(config, this.clock)
    if (config.dashboard === 'on' || config.smtpUrl !== null) sessionKey(config.data)
    this.management = serveManagement(
      {
        hostname: config.managementHost,
        port: config.managementPort,
      },
      {
        notReady: () => {
          this.checkedAt = this.clock.monotonic()
          return this.notReady()
        },
        warnings: () => warningsOf(this.state),
        metrics: () => this.metrics().toString(),
      },
    )
    const started = tellOfStart(this.manager, () => this.preparing)
    try {
      await this.open()
    } catch (error) {
      this.phase = 'stopping'
      this.management.stop(true)
      await this.storage?.close().catch(() => {})
      throw error
    } finally {
      started()
    }
    if (!this.isStopping) {
      this.phase = 'serving'
      this.backups.start()
    }
    const shownHost = config.host === '0.0.0.0' || config.host === '::' ? 'localhost' : config.host
    const running: Running = {
      url: `http://${shownHost}:${config.port}`,
      managementUrl: `http://${config.managementHost}:${this.management.port}`,
      warnings: this.warnings,
      warn: message => this.log.warn(message),
      stopped: this.exit.promise,
      stop: () => this.stop(),
    }
    const { url, managementUrl } = running
    this.log.info({ url, managementUrl, version }, 'ready')
    if (this.manager) this.tell(this.manager, url)
    if (this.isReloadDue) this.reload()
    return running
  }

  private async open(): Promise<void> {
    const { config, clock, log, warnings } = this
    const note = (preparing: string | null) => {
      this.preparing = preparing
    }
    const preparation = { config, clock, log, warnings, note }
    await requireLimits(preparation)
    this.watchIssuer()
    const prepared = await prepareData(preparation)
    await Promise.all([this.answer(), this.disk.start()])
    // Alerts may be configured through another node at any time, and this node may have to look after them.
    if (this.node !== null || hasAlerts(prepared)) this.alerts?.want()
    prepared.close()
  }

  /** Opens storage, and answers requests over it. */
  private async answer(): Promise<void> {
    const { config, clock, log, live, issuerKeys } = this
    const opened = await openStorage({
      ...{ config, clock, log, live, counters: this.commits },
      onLost: () => {
        this.finish(1)
        process.exit(1)
      },
    })
    this.storage = opened
    const calls = new StorageCalls(opened.storage, config.ack)
    const storage = connectStorage(config.data, calls, true, clock.monotonic)
    const alerts = new Alerts(config, { clock, log, storage })
    this.stores = storage
    this.alerts = alerts
    const http = await openHttp(config, {
      ...{ clock, storage, issuerKeys, log: this.ownLog, node: live.node },
      figures: () => this.figures(),
      onAlertsChange: () => alerts.want(),
      letGo: this.letGoOfPort,
    })
    this.http = http
    const done = () => http.counters.total + this.commits.commands
    new Collector(done, maxGrowthBytes, {
      ...ownHeap,
      giveBack() {
        opened.storage.giveBack()
        ownHeap.giveBack()
      },
    }).start()
  }

  /** Starts to fetch the identity provider's keys. Not awaited, because the provider may be down. */
  private watchIssuer(): void {
    this.issuerKeys?.refresh()
    setInterval(() => this.issuerKeys?.refresh(), lookEveryMs).unref()
  }

  private get state(): ServerState {
    const { phase, config, live, disk } = this
    return {
      phase,
      node: this.node,
      monotonicMs: this.clock.monotonic(),
      preparing: this.preparing,
      dataDir: config.data,
      syncingMs: this.storage?.storage.syncingMs ?? 0,
      buffer: live.buffer,
      disk,
    }
  }

  private notReady(): string[] {
    return whyNotReady(this.state)
  }

  /** Tells the service manager that this server is ready, and from then on its status. */
  private tell(manager: ServiceManager, url: string): void {
    tellOfService(manager, {
      status: () => {
        const reasons = this.notReady()
        if (reasons.length > 0) return `Not ready: ${reasons.join('; ')}`
        return [`Serving ${url}`, ...warningsOf(this.state)].join('; ')
      },
      isStopping: () => this.isStopping,
    })
  }

  private figures(): ServerFigures {
    return figuresOf({
      notReady: this.notReady(),
      warnings: warningsOf(this.state),
      disk: this.disk.seen,
      backups: this.backups.seen,
      limitsServer: this.http?.limits.server ?? null,
      node: this.node,
    })
  }

  private metrics(): Exposition {
    const { node } = this
    return metricsOf({
      requests: this.http?.counters ?? null,
      commits: this.commits,
      live: this.live,
      userHashes: this.storage?.storage.userHashes.sums ?? noUserHashes,
      disk: this.disk,
      isReady: this.notReady().length === 0,
      reloads: this.reloads,
      backups: this.backups.seen,
      limits: this.http?.limits.server ?? null,
      node: node && {
        state: node,
        monotonicMs: this.clock.monotonic(),
      },
    })
  }

  /** Reads the settings again and takes up what it can; if one is wrong, nothing changes. */
  private reload(): void {
    this.isReloadDue = this.phase === 'starting'
    if (this.phase !== 'serving') return
    this.manager?.reloading()
    try {
      const { config: next, warnings } = this.settings.reread()
      const { config, changed, waiting } = reloadOf(this.config, this.settings.given, next)
      if (changed.length > 0) this.take(config)
      // Logged at the more verbose of the two levels.
      if (!this.log.isLevelEnabled('info')) this.log.level = config.logLevel
      this.log.info({ changed }, changed.length > 0 ? 'settings taken up' : 'no setting changed')
      if (waiting.length > 0)
        this.log.warn({ waiting }, 'changed settings take effect at the next restart')
      for (const warning of warnings) this.log.warn(warning)
      this.log.level = config.logLevel
      this.reloads.lastGoodAt = this.clock.now()
      this.reloads.wentWell = true
    } catch (error) {
      this.reloads.wentWell = false
      const reasons = error instanceof ConfigError ? error.lines : [shortReasonOf(error)]
      this.log.error({ reasons }, 'the new settings are invalid: the previous ones stay in use')
    }
    this.manager?.ready()
  }

  private take(config: Config): void {
    // The steps that can fail come first.
    if (providerOf(config) === null) ownTokensFor(config, this.clock)
    const isSameIssuer = Bun.deepEquals(providerOf(config), providerOf(this.config))
    const { lock, holder } = this.held
    holder.sessionTokens = tokenModeOf(config)
    lock.describe(holder)
    this.config = config
    if (!isSameIssuer) this.issuerKeys = this.issuerKeysFor(config)
    this.issuerKeys?.refresh()
    this.http?.reload(config, this.issuerKeys)
    this.alerts?.reload(config)
    this.storage?.retainFor(config.retentionDays)
  }

  private watchSignals(): void {
    // At a terminal, SIGHUP means that the terminal is gone; elsewhere, that the settings have changed.
    const isTerminal = isatty(0)
    if (!isTerminal) process.on('SIGHUP', () => this.reload())
    for (const signal of ['SIGTERM', 'SIGINT', ...(isTerminal ? ['SIGHUP'] : [])]) {
      process.on(signal, () => {
        if (this.isStopping) process.exit(130)
        if (this.phase === 'starting') {
          this.log.info({ signal }, 'stopped before it was ready; the next start continues')
          this.finish(0)
          process.exit(0)
        }
        this.log.info({ signal }, 'stopping')
        this.stop()
      })
    }
  }

  /** An error that nobody has caught ends the process, because nobody knows what it has left undone. */
  private watchErrors(): void {
    const end = (error: unknown) => {
      this.log.fatal({ reason: reasonOf(error) }, 'the server stops because of an unexpected error')
      this.finish(1)
      process.exit(1)
    }
    process.on('uncaughtException', end)
    process.on('unhandledRejection', end)
  }

  private async stop(): Promise<void> {
    if (this.isStopping) return
    this.phase = 'stopping'
    this.manager?.stopping()
    const hasBalancer = this.clock.monotonic() - this.checkedAt < checkedEveryMs
    // A server alone has no other node that would answer in its place.
    if (this.node !== null && hasBalancer) await Bun.sleep(noticedWithinMs)
    await Promise.all([this.http?.stop(), this.alerts?.stop()])
    this.stores?.close()
    // A backup reads the database, whose write-ahead log is about to be truncated.
    await this.backups.stop()
    try {
      await this.storage?.close()
      this.finish(0)
    } catch (error) {
      this.log.fatal({ reason: shortReasonOf(error) }, 'not everything could be written')
      this.finish(1)
    }
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
