import { resolve } from 'node:path'
import type { Config } from '../config/settings.ts'
import { shellWord } from '../core/text/wording.ts'
import type { Clock } from '../core/time/clock.ts'
import { inspectValkey, LimitsUnusable } from '../limits/valkey-inspection.ts'
import { inspectDatabase } from '../storage/log/postgres/inspection.ts'
import { PostgresLog } from '../storage/log/postgres/postgres-log.ts'
import { type PreparedDatabase, prepareDatabase } from '../storage/sqlite/database/prepare.ts'
import { prepareReplica } from '../storage/sqlite/replica/prepare-replica.ts'
import type { DiskWatch } from './disk-watch.ts'
import { limitsServerOf } from './limiter.ts'
import type { Log } from './log.ts'
import { requireOwnData } from './place.ts'
import { Preparation } from './preparation.ts'
import { keepSnippet } from './snippet-versions.ts'
import type { Prepared } from './task-thread.ts'

/** Organisations may be created later. More often the commands were given another directory or database. */
const noOrganisation = ({ data, databaseUrl }: Config) =>
  databaseUrl === null
    ? `there is no organisation in this data directory yet: cairn org create NAME --data ${shellWord(resolve(data))}`
    : 'there is no organisation in the database yet: run "cairn org create NAME" with its CAIRN_DATABASE_URL'

const foreign = (what: string) =>
  `cairn.db has ${what}, which is not Cairn's and may change what is stored: see "cairn doctor"`

const erasuresUnfinished = (reason: string) =>
  `unused parts of the files may still hold what was erased (${reason}): the next start tries again`

/** The parts of a server that exist before it answers. */
interface NewServer {
  config: Config
  clock: Clock
  log: Log
  disk: DiskWatch
  /** Opens storage and starts to answer. */
  answer(): Promise<void>
  /** Has alerts looked after from now on. */
  wantAlerts(): void
}

/** The steps before a server answers: its storage is prepared, and it starts to answer over it. */
export class Opening {
  /** What the operator should know although it serves. */
  readonly warnings: string[] = []
  private preparation: Preparation | null = null
  private filling: string | null = null

  constructor(private readonly server: NewServer) {}

  /** What is being done to the database before it is served, and the progress; null if nothing is. */
  get preparing(): string | null {
    return this.filling ?? this.preparation?.text ?? null
  }

  /**
   * Opens a data directory alone, or as that of one of the nodes that follow a database.
   *
   * @throws DatabaseUnusable, NotOfThisLog, WrongStorage
   */
  async open(): Promise<void> {
    const { config, disk } = this.server
    const { databaseUrl: url } = config
    if (url === null) requireOwnData(config.data)
    else await this.fill(url)
    const prepared = await this.prepare(url !== null)
    keepSnippet(config.data)
    this.warnings.push(...prepared.foreignActors().map(foreign))
    await Promise.all([this.server.answer(), disk.start()])
    if (!prepared.hasOrganisation()) this.warnings.push(noOrganisation(config))
    // Alerts may be configured through another node at any time, and this node may have to look after them.
    if (url !== null || prepared.hasAlerts()) this.server.wantAlerts()
    prepared.close()
  }

  /** Makes the data directory one that can follow the database's log. */
  private async fill(url: string): Promise<void> {
    const { config, clock, log } = this.server
    const { place, version } = await inspectDatabase(url, clock.now)
    log.info({ place, version }, 'this is a node over a PostgreSQL database')
    const shared = await PostgresLog.open(url)
    try {
      const anew = await prepareReplica(config.data, shared, place, share => {
        this.filling = `filling: ${Math.floor(share * 100)} % of the newest snapshot: wait`
      })
      if (anew !== null) log.warn({ reason: anew }, 'the data directory was filled anew')
    } finally {
      this.filling = null
      await shared.close()
    }
  }

  /**
   * A fault that only a person can fix keeps the server from starting. A limits server that is away does not,
   * because otherwise nothing would come up again before it does.
   *
   * @throws LimitsUnusable
   */
  async requireLimits(): Promise<void> {
    const { config, log } = this.server
    const server = limitsServerOf(config)
    if (server === null) return
    try {
      const { place, what } = await inspectValkey(server)
      log.info({ place, what }, 'limits are counted by a server of their own')
    } catch (error) {
      if (!(error instanceof LimitsUnusable && error.mayPass)) throw error
      this.warnings.push(`the limits server at ${error.message}`)
    }
  }

  /**
   * Brings the database to what this release needs, and erases everybody who was to be erased. On a node
   * storage does that.
   */
  private async prepare(isNode: boolean): Promise<PreparedDatabase> {
    const { config, log } = this.server
    const open = () => prepareDatabase(config.data)
    let prepared = open()
    if (prepared.upgradeDue) {
      prepared.close()
      log.info('the database is brought up to date before this server is ready')
      await this.beforeServing('upgrade')
      prepared = open()
    }
    if (!isNode && prepared.erasuresDue()) {
      prepared.close()
      log.info('people on the list of erasures are erased before this server is ready')
      const { unfinished } = await this.beforeServing('erasures')
      if (unfinished !== null) this.warnings.push(erasuresUnfinished(unfinished))
      prepared = open()
    }
    return prepared
  }

  /** Meanwhile only the management port answers. */
  private async beforeServing<Of extends keyof Prepared>(task: Of): Promise<Prepared[Of]> {
    const { log, clock, config } = this.server
    const preparation = new Preparation(task, log, clock.monotonic)
    this.preparation = preparation
    const failpoints = process.env.CAIRN_FAILPOINTS
    const done = await preparation.run({ dataDir: config.data, now: clock.now(), failpoints })
    this.preparation = null
    return done
  }
}
