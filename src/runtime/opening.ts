import { resolve } from 'node:path'
import type { Config } from '../config/settings.ts'
import { shellWord } from '../core/text/wording.ts'
import type { Clock } from '../core/time/clock.ts'
import { inspectValkey, LimitsUnusable } from '../limits/valkey-inspection.ts'
import { inspectDatabase } from '../storage/log/postgres/inspection.ts'
import { PostgresLog } from '../storage/log/postgres/postgres-log.ts'
import { prepareDatabase } from '../storage/sqlite/database/prepare.ts'
import { erasuresDue } from '../storage/sqlite/erasure/erasures.ts'
import { hasOrganisation } from '../storage/sqlite/organisations/organisations.ts'
import { prepareReplica } from '../storage/sqlite/replica/prepare-replica.ts'
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

/** What is done before a server answers. */
interface Preparation {
  config: Config
  clock: Clock
  log: Log
  /** Called with what is being done to the database, and with null once that is finished. */
  note(preparing: string | null): void
  /** What the operator should know although it serves. */
  warnings: string[]
}

/**
 * A fault that only a person can fix keeps the server from starting. A limits server that is away does not, because
 * otherwise nothing would come up again before it does.
 *
 * @throws LimitsUnusable
 */
export async function requireLimits({ config, log, warnings }: Preparation): Promise<void> {
  const server = limitsServerOf(config)
  if (server === null) return
  try {
    const { place, what } = await inspectValkey(server)
    log.info({ place, what }, 'limits are counted by a separate server')
  } catch (error) {
    if (!(error instanceof LimitsUnusable && error.mayPass)) throw error
    warnings.push(`the limits server at ${error.message}`)
  }
}

/**
 * Brings a data directory up to date, alone or as that of one of the nodes that follow a database, and erases
 * everybody who was to be. On a node storage erases.
 *
 * @throws DatabaseUnusable, NotOfThisLog, WrongStorage
 */
export async function prepareData(preparation: Preparation) {
  const { config, note, warnings } = preparation
  const { data, databaseUrl: url } = config
  try {
    if (url === null) requireOwnData(data)
    else await fill(url, preparation)
    let prepared = prepareDatabase(data)
    if (url === null && erasuresDue(prepared, data)) {
      prepared.close()
      await eraseListed(preparation)
      prepared = prepareDatabase(data)
    }
    keepSnippet(data)
    if (!hasOrganisation(prepared)) warnings.push(noOrganisation(config))
    return prepared
  } finally {
    note(null)
  }
}

/** Makes the data directory one that can follow the database's log. */
async function fill(url: string, { config, clock, log, note }: Preparation): Promise<void> {
  const { place, version } = await inspectDatabase(url, clock.now)
  log.info({ place, version }, 'this is a node over a PostgreSQL database')
  const shared = await PostgresLog.open(url)
  try {
    const anew = await prepareReplica(config.data, shared, place, share =>
      note(`filling: loaded ${Math.floor(share * 100)} % of the newest snapshot: wait`),
    )
    if (anew !== null) log.warn({ reason: anew }, 'the data directory was loaded from a snapshot')
  } finally {
    await shared.close()
  }
}

/** Meanwhile only the management port answers. */
async function eraseListed({ config, log, note, warnings }: Preparation): Promise<void> {
  const begin = (doing: string) => {
    // By the first word `doctor` knows that all is well, but takes time.
    note(`erasing: ${doing}: wait`)
    log.info(`erasing: ${doing}`)
  }
  begin('people on the list of erasures')
  const work = longWorkBeside({ dataDir: config.data, isServed: false })
  const done = await work.finishErasures(() => begin('rewriting the database'))
  log.info(done, 'the database is prepared')
  if (done.unfinished !== null) warnings.push(erasuresUnfinished(done.unfinished))
}
