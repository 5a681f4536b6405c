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
import { longWorkBeside } from './long-work-thread.ts'
import { requireOwnData } from './place.ts'
import { keepSnippet } from './snippet-versions.ts'

/** Organisations may be created later. More often the commands were given another directory or database. */
const noOrganisation = ({ data, databaseUrl }: Config) =>
  databaseUrl === null
    ? `there is no organisation in this data directory yet: cairn org create NAME --data ${shellWord(resolve(data))}`
    : 'there is no organisation in the database yet: run "cairn org create NAME" with its CAIRN_DATABASE_URL'

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
  /** What is being done to the database before it is served; null if nothing is. */
  preparing: string | null = null

  constructor(private readonly server: NewServer) {}

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
        this.preparing = `filling: ${Math.floor(share * 100)} % of the newest snapshot: wait`
      })
      if (anew !== null) log.warn({ reason: anew }, 'the data directory was filled anew')
    } finally {
      this.preparing = null
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

  /** Brings the database up to date, and erases everybody who was to be. On a node storage erases. */
  private async prepare(isNode: boolean): Promise<PreparedDatabase> {
    const { data } = this.server.config
    const prepared = prepareDatabase(data)
    if (isNode || !prepared.erasuresDue()) return prepared
    prepared.close()
    await this.eraseListed()
    return prepareDatabase(data)
  }

  /** Meanwhile only the management port answers. */
  private async eraseListed(): Promise<void> {
    const { config, log } = this.server
    const note = (doing: string) => {
      // By the first word `doctor` knows that all is well, but takes time.
      this.preparing = `erasing: ${doing}: wait`
      log.info(this.preparing)
    }
    note('people on the list of erasures')
    try {
      const work = longWorkBeside({ dataDir: config.data, isServed: false })
      const done = await work.finishErasures(() => note('writing the database anew'))
      log.info(done, 'the database is prepared')
      if (done.unfinished !== null) this.warnings.push(erasuresUnfinished(done.unfinished))
    } finally {
      this.preparing = null
    }
  }
}
