import type { Config } from '../../config/settings.ts'
import { dayMs, hourMs } from '../../core/time/durations.ts'
import { maxApartMs } from '../../storage/log/log.ts'
import {
  type DatabaseSeen,
  DatabaseUnusable,
  inspectDatabase,
  type LogFacts,
  readLogFacts,
} from '../../storage/log/postgres/inspection.ts'
import { maxConnectionsOfNode } from '../../storage/log/postgres/pools.ts'
import { counted } from '../output.ts'
import { error, type Finding, ok, type Subject, warning } from './finding.ts'

/** An answer that takes longer slows every request down noticeably, milliseconds. */
const slowMs = 20

/** A database with fewer batches needs no snapshot yet. */
const batchesWithoutSnapshot = 100_000

/** Clocks that follow NTP are nearer to each other, milliseconds. */
const tolerableMs = 1_000

/** The database whose log this directory follows, if there is one. */
export async function checkPostgres({ databaseUrl, config, now }: Subject): Promise<Finding[]> {
  if (databaseUrl === null) return []
  try {
    const seen = await inspectDatabase(databaseUrl, Date.now)
    const findings = judgePostgres(seen)
    if (seen.log === null) {
      const what = 'it is empty: the first node sets it up'
      return [...findings, ok('database', what)]
    }
    const facts = await readLogFacts(databaseUrl)
    return [...findings, judgeSnapshots(facts, now), ...judgeLimits(facts, config)]
  } catch (fault) {
    if (!(fault instanceof DatabaseUnusable)) throw fault
    return [error('database', `the database at ${fault.what}`, fault.advice)]
  }
}

/** The findings about a database that can be used. */
export const judgePostgres = (seen: DatabaseSeen): Finding[] => [
  judgeAnswer(seen),
  ...judgeDisk(seen),
  judgeCommits(seen),
  ...judgeWay(seen),
  ...judgeClock(seen),
  judgeRoom(seen),
  judgeBackups(seen),
]

/** Without a snapshot, a new node has to take up the whole log. */
function judgeSnapshots({ snapshotAt, afterSnapshot }: LogFacts, now: number): Finding {
  if (afterSnapshot === 0) return ok('database', 'the newest snapshot has everything')
  const age = snapshotAt === null ? null : now - snapshotAt
  if (age !== null && age < 2 * dayMs) {
    return ok('database', `the newest snapshot is ${Math.round(age / hourMs)} h old`)
  }
  if (age === null && afterSnapshot < batchesWithoutSnapshot) {
    return ok('database', 'there is no snapshot yet: the first is made within a day')
  }
  const what = age === null ? 'there is no snapshot' : 'the newest snapshot is over two days old'
  return warning('database', what, 'start a node, which makes one; if one runs, see its log')
}

function judgeLimits({ nodes }: LogFacts, config: Config | null): Finding[] {
  if (nodes < 2 || config === null || config.limitsUrl !== null) return []
  const what = `${nodes} nodes run, and each counts requests by itself, so that an organisation may send its limits once to each`
  return [warning('limits', what, 'set CAIRN_LIMITS_URL')]
}

/** Backups are PostgreSQL's own, and this check cannot know of them. */
const judgeBackups = ({ isArchiving }: DatabaseSeen): Finding =>
  ok(
    'backup',
    isArchiving
      ? "the database's log is archived (archive_mode), as restoring any moment requires; Cairn makes no backup of it"
      : 'Cairn makes no backup of the database: use pg_dump, or pgBackRest, which needs archive_mode on',
  )

function judgeAnswer({ place, version, tookMs }: DatabaseSeen): Finding {
  const what = `the database at ${place} is PostgreSQL ${version}, and answers in ${tookMs.toFixed(1)} ms`
  if (tookMs < slowMs) return ok('database', what)
  return warning('database', what, 'move it closer to this machine: each write waits for it')
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
  if (offMs > maxApartMs)
    return [error('clock', `${what}: a node refuses writes`, 'set it, and sync both with NTP')]
  return [warning('clock', what, 'sync both machines with NTP')]
}

function judgeRoom({ maxClients, clients }: DatabaseSeen): Finding {
  const ofNode = maxConnectionsOfNode
  const nodes = Math.floor(maxClients / ofNode)
  const what = `the database takes ${counted(maxClients, 'connection')}, ${clients} of them in use; a node like this one takes up to ${ofNode}`
  if (nodes >= 2) return ok('database', `${what}: enough for ${nodes} nodes`)
  const advice = `raise max_connections to ${ofNode} for each node, plus some for other clients`
  return warning('database', what, advice)
}
