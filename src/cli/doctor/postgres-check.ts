import type { Config } from '../../config/settings.ts'
import { limitsForEach } from '../../runtime/node-watch.ts'
import { changedSinceMoved, notMoved } from '../../runtime/place.ts'
import {
  type DatabaseSeen,
  DatabaseUnusable,
  inspectDatabase,
} from '../../storage/postgres/database/inspection.ts'
import { mostConnectionsOfNode } from '../../storage/postgres/database/pools.ts'
import { readStoredState, type StoredState } from '../../storage/postgres/database/stored-state.ts'
import { counted } from '../output.ts'
import { judgeDeadLetters, judgeIdentities, judgeWebhooks } from './database-check.ts'
import { error, type Finding, ok, type Subject, warning } from './finding.ts'

/** An answer that takes longer slows every request down noticeably, milliseconds. */
const slowMs = 20

/** HTTP threads of a node whose configuration cannot be read. */
const usualThreads = 2

/** Clocks that follow NTP are nearer to each other, milliseconds. */
const tolerableMs = 1_000

/** The database that several nodes share, if there is one. */
export async function checkPostgres({
  data,
  databaseUrl,
  config,
  now,
}: Subject): Promise<Finding[]> {
  if (databaseUrl === null) return []
  try {
    const seen = await inspectDatabase(databaseUrl, Date.now)
    const stored = await readStoredState(databaseUrl, data, now)
    return [
      ...judgePostgres(seen, config?.threads ?? usualThreads),
      ...judgeStored(stored, now),
      ...judgeLimits(stored, config),
      ...judgeLeft(stored, data, seen),
    ]
  } catch (fault) {
    if (!(fault instanceof DatabaseUnusable)) throw fault
    return [error('database', `the database at ${fault.what}`, fault.advice)]
  }
}

/** The findings about a database that can be used. */
export const judgePostgres = (seen: DatabaseSeen, httpThreads: number): Finding[] => [
  judgeAnswer(seen),
  ...judgeDisk(seen),
  judgeCommits(seen),
  ...judgeWay(seen),
  ...judgeClock(seen),
  judgeRoom(seen, mostConnectionsOfNode(httpThreads)),
  judgeBackups(seen),
]

/** The same for what is stored in it. */
const judgeStored = (stored: StoredState, now: number): Finding[] => [
  ...judgeOrganisations(stored),
  ...judgePartitions(stored),
  judgeDeadLetters(stored.deadLetters),
  ...judgeWebhooks(stored.webhooks, now),
  ...judgeErasures(stored),
  ...judgeIdentities(stored.refusingIdentities),
]

function judgeOrganisations({ hasOrganisation }: StoredState): Finding[] {
  if (hasOrganisation) return []
  return [warning('database', 'there is no organisation in it yet', 'cairn org create NAME')]
}

/** A node makes tables for days to come, every few seconds. Without them, everything lies in the default table. */
function judgePartitions({ daysAhead, hasOrganisation }: StoredState): Finding[] {
  if (daysAhead > 0 || !hasOrganisation) return []
  const advice = 'start a node, which makes it; if one runs, see its log for "housekeeping failed"'
  return [warning('database', "there is no table for tomorrow's events yet", advice)]
}

function judgeErasures({ unfinishedErasures: count }: StoredState): Finding[] {
  if (count === 0) return []
  const what = `the erasure of ${counted(count, 'person', 'people')} is not finished`
  return [warning('database', what, 'start a node, or another one, to finish it')]
}

function judgeLimits({ nodes }: StoredState, config: Config | null): Finding[] {
  if (nodes < 2 || config === null || config.limitsUrl !== null) return []
  const [what, advice] = limitsForEach.split(': ') as [string, string]
  return [warning('limits', `${nodes} nodes run, and ${what}`, advice)]
}

/** The data that was not moved from the directory. */
function judgeLeft(
  { leftBehind }: StoredState,
  data: string | null,
  { place }: DatabaseSeen,
): Finding[] {
  if (data === null || leftBehind === 'nothing') return []
  const isAll = leftBehind === 'all'
  const line = isAll ? notMoved(data, place) : changedSinceMoved(data, place)
  const [what, advice] = line.split(/: (.*)/s) as [string, string]
  return [(isAll ? error : warning)('directory', what, advice)]
}

/** Backups are PostgreSQL's own, and this check cannot know of them. */
const judgeBackups = ({ isArchiving }: DatabaseSeen): Finding =>
  ok(
    'backup',
    isArchiving
      ? "the database's log is archived (archive_mode), as restoring any moment requires; Cairn makes no backup of it"
      : 'Cairn makes no backup of the database: use pg_dump, or pgBackRest, which needs archive_mode on',
  )

function judgeAnswer({ place, version, schema, tookMs }: DatabaseSeen): Finding {
  const what = `the database at ${place} is PostgreSQL ${version} with schema ${schema}, and answers in ${tookMs.toFixed(1)} ms`
  if (tookMs < slowMs) return ok('database', what)
  return warning('database', what, 'move it closer to this machine: each request waits for it')
}

/** Settings with which a database can be lost when its machine loses power. */
function judgeDisk({ fsync, fullPageWrites }: DatabaseSeen): Finding[] {
  const off = [fsync ? '' : 'fsync', fullPageWrites ? '' : 'full_page_writes'].filter(Boolean)
  if (off.length === 0) return []
  const what = `the database has ${off.join(' and ')} off: a crash of its machine can damage all of it`
  return [error('database', what, `set ${off.map(name => `${name} = on`).join(' and ')}`)]
}

function judgeCommits(seen: DatabaseSeen): Finding {
  const { synchronousCommit: when, synchronousStandbys: standbys } = seen
  const setting = `synchronous_commit is ${when}`
  if (when === 'off') {
    const what = `the database does not wait for its disk (${setting}): a crash loses acknowledged data`
    return warning('database', what, 'set synchronous_commit = on')
  }
  // Without standbys there is nothing else to wait for.
  if (standbys === '')
    return ok('database', `a commit waits for the database's own disk, and no standby`)
  if (when === 'local') {
    const what = `a commit does not wait for the standby ${standbys} (${setting}): a failover loses acknowledged data`
    return warning('database', what, 'set synchronous_commit = on')
  }
  if (seen.followers === 0) {
    const what = `a commit waits for the standby ${standbys}, but none is connected: writes are refused until one is`
    return error('database', what, 'start it, and check in its log that it reaches the primary')
  }
  return ok('database', `a commit waits for the standby ${standbys} (${setting})`)
}

/** Without encryption, anybody on the network path can read events and people. */
function judgeWay({ place, isEncrypted }: DatabaseSeen): Finding[] {
  if (isEncrypted || /^(localhost|127\.[\d.]+|\[::1\]):/.test(place)) return []
  const what = 'the connection to the database is not encrypted'
  const advice = 'add ?sslmode=verify-full to its address, unless nobody else uses the network'
  return [warning('database', what, advice)]
}

/** Both clocks decide which moments count as past. */
function judgeClock({ aheadMs }: DatabaseSeen): Finding[] {
  const offMs = Math.abs(aheadMs)
  if (offMs <= tolerableMs) return []
  const side = aheadMs > 0 ? 'ahead of' : 'behind'
  const what = `the clock of the database's machine is ${(offMs / 1_000).toFixed(1)} s ${side} this one's`
  return [warning('clock', what, 'sync both machines with NTP')]
}

function judgeRoom({ mostClients, clients }: DatabaseSeen, ofNode: number): Finding {
  const nodes = Math.floor(mostClients / ofNode)
  const what = `the database takes ${counted(mostClients, 'connection')}, ${clients} of them in use; a node like this one takes up to ${ofNode}`
  if (nodes >= 2) return ok('database', `${what}: enough for ${nodes} nodes`)
  const advice = `raise max_connections to ${ofNode} for each node, plus some for other clients`
  return warning('database', what, advice)
}
