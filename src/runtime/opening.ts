import { resolve } from 'node:path'
import type { Config } from '../config/settings.ts'
import { shellWord } from '../core/text/wording.ts'
import type { Clock } from '../core/time/clock.ts'
import { inspectValkey, LimitsUnusable } from '../limits/valkey-inspection.ts'
import { Postgres } from '../storage/postgres/database/connection.ts'
import { inspectDatabase } from '../storage/postgres/database/inspection.ts'
import { leftBehind, requireNoMove } from '../storage/postgres/move/moves.ts'
import { type PreparedDatabase, prepareDatabase } from '../storage/sqlite/database/prepare.ts'
import type { DiskWatch } from './disk-watch.ts'
import { limitsServerOf } from './limiter.ts'
import type { Log } from './log.ts'
import { changedSinceMoved, emptyCopyDir, notMoved, requireOwnData, WrongStorage } from './place.ts'
import { Preparation } from './preparation.ts'
import { shareSessionKey } from './session-key.ts'
import { keepSnippet, shareSnippet } from './snippet-versions.ts'
import type { LoadedThreads, Supervisor } from './supervisor.ts'
import type { Prepared } from './task-thread.ts'

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
  threads: Supervisor
}

/** The steps before a server answers: its storage is prepared, and its threads are started over it. */
export class Opening {
  /** What the operator should know although it serves. */
  readonly warnings: string[] = []
  private preparation: Preparation | null = null

  constructor(private readonly server: NewServer) {}

  /** What is being done to the database before it is served, and the progress; null if nothing is. */
  get preparing(): string | null {
    return this.preparation?.text ?? null
  }

  /** @throws DatabaseUnusable, MoveRefused, WrongStorage */
  open(threads: LoadedThreads): Promise<void> {
    const { databaseUrl } = this.server.config
    return databaseUrl === null ? this.openAlone(threads) : this.openNode(databaseUrl, threads)
  }

  /** @throws WrongStorage */
  private async openAlone(threads: LoadedThreads): Promise<void> {
    const { config, disk, threads: all } = this.server
    requireOwnData(config.data)
    const prepared = await this.prepare()
    keepSnippet(config.data)
    if (!prepared.hasOrganisation()) this.warnings.push(noOrganisation(config))
    await Promise.all([threads.start(), disk.start()])
    if (prepared.hasAlerts()) all.wantAlerts()
    prepared.close()
  }

  /**
   * Opens as one of the nodes over a database. The storage thread fills this node's copy before anybody reads
   * it.
   *
   * @throws DatabaseUnusable, MoveRefused, WrongStorage
   */
  private async openNode(url: string, threads: LoadedThreads): Promise<void> {
    const { config, clock, log, disk, threads: all } = this.server
    const { warnings } = this
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
    await disk.start()
    const prepared = prepareDatabase(copyDir, clock.now())
    if (!prepared.hasOrganisation()) warnings.push(noOrganisation(config))
    prepared.close()
    // Alerts may be configured through another node at any time, and this node may have to look after them.
    all.wantAlerts()
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

  /** Brings the database to what this release needs, and erases everybody who was to be erased. */
  private async prepare(): Promise<PreparedDatabase> {
    const { clock, config, log } = this.server
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
