import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { isatty } from 'node:tty'
import type { ServerFigures } from '../app.ts'
import { type Config, ConfigError, type ReadConfig, type SettingName } from '../config.ts'
import { shortReasonOf } from '../core/text/reason.ts'
import { shellWord } from '../core/text/wording.ts'
import { version } from '../core/version.ts'
import { armFailpoints } from '../failpoints.ts'
import { inspectValkey, LimitsUnusable } from '../limits/valkey-inspection.ts'
import { Postgres } from '../storage/postgres/database/connection.ts'
import { databasePlace, inspectDatabase } from '../storage/postgres/database/inspection.ts'
import { leftBehind, requireNoMove } from '../storage/postgres/move/moves.ts'
import { BufferGauge, IdentityBoard, LagBoard } from '../storage/shared/boards.ts'
import { NodeBoard } from '../storage/shared/node-board.ts'
import { type PreparedDatabase, prepareDatabase } from '../storage/sqlite/database/prepare.ts'
import { BackupSchedule } from './backup-schedule.ts'
import { Balancers } from './balancers.ts'
import { DiskWatch } from './disk-watch.ts'
import type { Exposition } from './exposition.ts'
import type { Look } from './figures.ts'
import { providerOf } from './identity-provider.ts'
import { IssuerKeys } from './issuer-keys.ts'
import { limitsServerOf } from './limiter.ts'
import { acquireLock, type Lock, type LockHolder } from './lock.ts'
import { type Log, openLog } from './log.ts'
import { serveManagement } from './management.ts'
import { metricsOf } from './metrics.ts'
import { Mutex } from './mutex.ts'
import {
  changedSinceMoved,
  databaseDirOf,
  emptyCopyDir,
  notMoved,
  requireNotOfNode,
  WrongStorage,
} from './place.ts'
import { claimPorts, keepPort } from './ports.ts'
import { Preparation } from './preparation.ts'
import { isHopeless, type ServerState, whyNotReady } from './readiness.ts'
import { reloadOf } from './reload.ts'
import { FiguresOfServer } from './server-watch.ts'
import { ServiceManager } from './service-manager.ts'
import { sessionKey, shareSessionKey } from './session-key.ts'
import { keepSnippet, shareSnippet } from './snippet-versions.ts'
import { type LoadedThreads, type Supervised, Supervisor } from './supervisor.ts'
import { systemClock } from './system-clock.ts'
import type { Prepared } from './task-thread.ts'
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

/** How often it is looked whether the identity provider's keys are due. */
const lookEveryMs = 1_000
/** How often the service manager is told how this is, milliseconds; what it asks for if that is more often. */
const tellEveryMs = 1_000
/** How long the service manager is asked to go on waiting while this starts, each time it is told. */
const startsWithinMs = 60_000

/** How long a node that stops waits for balancers to know of it, at most, and how often it looks, milliseconds. */
const balancersWaitMs = 10_000
const looksForThemMs = 50

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
    database: given.databaseUrl === null ? null : databasePlace(given.databaseUrl),
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

/** Organisations may come later; more often the commands were given another directory, or database. */
const noOrganisation = ({ data, databaseUrl }: Config) =>
  databaseUrl === null
    ? `there is no organisation in this data directory yet: cairn org create NAME --data ${shellWord(resolve(data))}`
    : 'there is no organisation in the database yet: run "cairn org create NAME" with its CAIRN_DATABASE_URL'

const erasuresUnfinished = (reason: string) =>
  `unused parts of the files may still hold what was erased (${reason}): the next start tries again`

class Server implements Supervised {
  readonly logMutex = Mutex.memory()
  readonly clock = systemClock()
  readonly log: Log
  /** Null where session tokens are over a secret. */
  issuerKeys: IssuerKeys | null
  private readonly threads = new Supervisor(this)
  private readonly gauge: BufferGauge
  private readonly identity: IdentityBoard
  /** Null for a server alone. */
  private readonly nodeBoard: NodeBoard | null
  private readonly balancers = new Balancers()
  private readonly disk: DiskWatch
  private readonly backups: BackupSchedule
  /** Null where nobody wants to know. */
  private readonly manager: ServiceManager | null
  private readonly watch: FiguresOfServer
  private readonly exit = Promise.withResolvers<number>()
  private management: Bun.Server<undefined> | null = null
  private phase: 'starting' | 'serving' | 'stopping' = 'starting'
  private preparation: Preparation | null = null
  /** How the latest reading of the settings went, and when one last went well; Unix milliseconds. */
  private readonly reloads = { wentWell: true, lastGoodAt: Date.now() }

  constructor(
    public config: Config,
    private readonly held: { lock: Lock; holder: LockHolder },
    private readonly settings: { asked: Config; reread: Reread },
  ) {
    this.gauge = new BufferGauge(this.threads.shared.buffer, this.bufferBounds)
    this.identity = new IdentityBoard(this.threads.shared.identity)
    this.nodeBoard = config.databaseUrl === null ? null : new NodeBoard(this.threads.shared.node)
    this.disk = new DiskWatch(databaseDirOf(config), this.clock.monotonic)
    this.log = openLog(config, 'main', this.logMutex).log
    this.manager = ServiceManager.from(process.env, this.log)
    this.issuerKeys = this.issuerKeysFor(config)
    this.backups = new BackupSchedule(() => this.config, this.clock, this.log)
    const { threads, backups } = this
    this.watch = new FiguresOfServer({
      ...{ threads, backups },
      retentionDays: () => this.config.retentionDays,
      look: () => this.look(),
      notReady: () => this.notReady(),
    })
  }

  private issuerKeysFor(config: Config): IssuerKeys | null {
    const provider = providerOf(config)
    const tell = () => this.threads.tell(...this.threads.all)
    return provider && new IssuerKeys(provider, config.data, this.clock, this.log, tell)
  }

  private get bufferBounds() {
    return { events: this.config.bufferEvents, bytes: this.config.bufferBytes }
  }

  private get isStopping() {
    return this.phase === 'stopping'
  }

  async start(): Promise<Running> {
    const { config } = this
    // Made here once, so that the threads do not race to make it.
    if (this.issuerKeys === null) ownTokensFor(config, this.clock)
    if (config.dashboard === 'on') sessionKey(config.data)
    this.management = serveManagement(
      {
        hostname: config.managementHost,
        port: config.managementPort,
      },
      {
        notReady: who => {
          const reasons = this.notReady()
          this.balancers.asked(who, reasons.length === 0, this.clock.monotonic())
          return reasons
        },
        metrics: () => this.metrics().toString(),
      },
    )
    const warnings: string[] = []
    const started = this.tellOfStart()
    // They load while the database is prepared.
    const threads = this.threads.load()
    try {
      await this.requireLimits(warnings)
      this.watchIssuer()
      if (config.databaseUrl === null) await this.startAlone(threads, warnings)
      else await this.startNode(config.databaseUrl, threads, warnings)
    } catch (error) {
      this.phase = 'stopping'
      this.management.stop(true)
      threads.abandon()
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

  /** @throws WrongStorage */
  private async startAlone(threads: LoadedThreads, warnings: string[]): Promise<void> {
    requireNotOfNode(this.config.data)
    const prepared = await this.prepare(warnings)
    keepSnippet(this.config.data)
    if (!prepared.hasOrganisation()) warnings.push(noOrganisation(this.config))
    await Promise.all([threads.start(), this.disk.start()])
    if (prepared.hasAlerts()) this.threads.wantAlerts()
    prepared.close()
  }

  /**
   * As one of the nodes over a database, whose copy the storage thread fills before anybody reads it.
   *
   * @throws DatabaseUnusable, MoveRefused, WrongStorage
   */
  private async startNode(url: string, threads: LoadedThreads, warnings: string[]): Promise<void> {
    const { config, clock, log } = this
    const { place, version } = await inspectDatabase(url, clock.now)
    log.info({ place, version }, 'this is a node over a PostgreSQL database')
    const postgres = Postgres.open(url, { most: 1 })
    try {
      await requireNoMove(postgres)
      const left = await leftBehind(postgres, config.data)
      if (left === 'all') throw new WrongStorage(notMoved(config.data, place))
      if (left === 'changes') warnings.push(changedSinceMoved(config.data, place))
      keepSnippet(config.data)
      await shareSnippet(postgres, clock.now())
      await shareSessionKey(config.data, postgres, clock.now())
    } finally {
      await postgres.close()
    }
    const copyDir = emptyCopyDir(config)
    await threads.start(true)
    await this.disk.start()
    const prepared = prepareDatabase(copyDir, clock.now())
    if (!prepared.hasOrganisation()) warnings.push(noOrganisation(config))
    prepared.close()
    // Another node may be asked for some at any time, and this one be asked to look after them.
    this.threads.wantAlerts()
  }

  /**
   * What only a person can mend keeps the server from its start; a limits server that is away does not,
   * for then nothing would come up again before that does.
   *
   * @throws LimitsUnusable
   */
  private async requireLimits(warnings: string[]): Promise<void> {
    const server = limitsServerOf(this.config)
    if (server === null) return
    try {
      const { place, what } = await inspectValkey(server)
      this.log.info({ place, what }, 'limits are counted by a server of their own')
    } catch (error) {
      if (!(error instanceof LimitsUnusable && error.mayPass)) throw error
      warnings.push(`the limits server at ${error.message}`)
    }
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
  private async beforeServing<Of extends keyof Prepared>(task: Of): Promise<Prepared[Of]> {
    const { log, clock, config, held } = this
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
    const failpoints = process.env.CAIRN_FAILPOINTS
    const done = await preparation.run({ dataDir: config.data, now: clock.now(), failpoints })
    this.preparation = null
    process.off('SIGTERM', giveUp).off('SIGINT', giveUp).off('SIGHUP', giveUp).off('SIGHUP', reload)
    return done
  }

  /** Begins to fetch the identity provider's keys. Nobody waits for it: the provider may be down. */
  private watchIssuer(): void {
    this.issuerKeys?.refresh()
    setInterval(() => this.issuerKeys?.refresh(), lookEveryMs).unref()
  }

  private get state(): ServerState {
    const { phase, config, gauge, disk, threads } = this
    return {
      phase,
      node: this.nodeBoard,
      monotonicMs: this.clock.monotonic(),
      preparing: this.preparation?.text ?? null,
      dataDir: config.data,
      httpThreads: threads.httpThreads,
      silentMs: threads.silentMs,
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

  figures(): Promise<ServerFigures> {
    return this.watch.look()
  }

  private async look(): Promise<Look> {
    const traffic = await readTraffic(databaseDirOf(this.config), this.threads.all)
    return {
      atMs: this.clock.monotonic(),
      metrics: this.metrics(),
      traffic: new Map(traffic.map(one => [one.id, one])),
    }
  }

  private metrics(): Exposition {
    const { threads } = this
    return metricsOf({
      httpCounters: threads.countersOfHttp,
      commitCounters: threads.commitCounters,
      routes: threads.routes,
      gauge: this.gauge,
      bounds: this.bufferBounds,
      lag: new LagBoard(threads.shared.lag),
      disk: this.disk,
      httpThreads: threads.httpThreads,
      identity: this.identity,
      catalogueGeneration: Atomics.load(new Int32Array(threads.shared.generation), 0),
      isReady: this.notReady().length === 0,
      reloads: this.reloads,
      backups: this.backups.seen,
      limits: this.config.limitsUrl === null ? null : threads.limits,
      node: this.nodeBoard && {
        board: this.nodeBoard,
        monotonicMs: this.clock.monotonic(),
      },
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
    this.threads.tell(...this.threads.all)
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
    // A server alone has nobody who would answer in its place.
    if (this.nodeBoard !== null) await this.balancersTold()
    await this.threads.stopHttp()
    // It reads the database, whose log is about to be cut back.
    await this.backups.stop()
    if (await this.threads.stopStorage()) this.finish(0)
  }

  /** Goes on answering until balancers send their requests elsewhere. */
  private async balancersTold(): Promise<void> {
    const { balancers, clock } = this
    const deadline = clock.monotonic() + balancersWaitMs
    while (!balancers.areTold(clock.monotonic()) && clock.monotonic() < deadline) {
      // After the last word as well: what was sent before it is on its way.
      await Bun.sleep(looksForThemMs)
    }
  }

  onStorageDead(): void {
    this.finish(1)
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
