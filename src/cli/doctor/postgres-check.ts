import { maxApartMs } from '../../storage/log/log.ts'
import {
  type DatabaseSeen,
  inspectDatabase,
  runningNodes,
} from '../../storage/log/postgres/inspection.ts'
import { maxConnectionsOfNode } from '../../storage/log/postgres/pools.ts'
import { error, type Finding, ok, type Subject, warning } from './finding.ts'

/** An answer that takes longer slows every request down noticeably, milliseconds. */
const slowMs = 20
/** Clocks that follow NTP are nearer to each other, milliseconds. */
const tolerableMs = 1_000

/** The database whose log this directory follows, if there is one. */
export async function checkPostgres({ databaseUrl, config }: Subject): Promise<Finding[]> {
  if (databaseUrl === null) return []
  const seen = await inspectDatabase(databaseUrl, Date.now)
  const findings = judgePostgres(seen)
  if (seen.log === null) {
    return [...findings, ok('database', 'it is empty: the first node sets it up')]
  }
  const nodes = await runningNodes(databaseUrl)
  if (nodes > 1 && config?.limitsUrl === null) {
    const what = `${nodes} nodes run, and each counts requests by itself, so that an organisation may send its limits once to each`
    findings.push(warning('limits', what, 'set CAIRN_LIMITS_URL'))
  }
  return findings
}

/** The findings about a database that can be used. */
export function judgePostgres(seen: DatabaseSeen): Finding[] {
  const { place, version, tookMs, isEncrypted, aheadMs, maxClients, clients } = seen
  const what = `the database at ${place} is PostgreSQL ${version}, and answers in ${tookMs.toFixed(1)} ms`
  const findings = [
    tookMs < slowMs
      ? ok('database', what)
      : warning('database', what, 'move it closer to this machine: each write waits for it'),
    judgeCommits(seen),
  ]
  const off = [seen.fsync ? '' : 'fsync', seen.fullPageWrites ? '' : 'full_page_writes']
  const names = off.filter(Boolean)
  if (names.length > 0) {
    const what = `the database has ${names.join(' and ')} off: a crash of its machine can damage all of it`
    const advice = `set ${names.map(name => `${name} = on`).join(' and ')}`
    findings.push(error('database', what, advice))
  }
  if (!isEncrypted && !/^(localhost|127\.[\d.]+|\[::1\]):/.test(place)) {
    // Anybody on the network path can read events and people.
    const what = 'the connection to the database is not encrypted'
    const advice = 'add ?sslmode=verify-full to its address, unless nobody else uses the network'
    findings.push(warning('database', what, advice))
  }
  if (Math.abs(aheadMs) > tolerableMs) {
    // Both clocks decide which moments count as past.
    const side = aheadMs > 0 ? 'ahead of' : 'behind'
    const seconds = (Math.abs(aheadMs) / 1_000).toFixed(1)
    const what = `the clock of the database's machine is ${seconds} s ${side} this one's`
    findings.push(
      Math.abs(aheadMs) > maxApartMs
        ? error('clock', `${what}: a node refuses writes`, 'set it, and sync both with NTP')
        : warning('clock', what, 'sync both machines with NTP'),
    )
  }
  if (maxClients < 2 * maxConnectionsOfNode) {
    const what = `the database takes ${maxClients} connections, ${clients} of them in use; a node takes up to ${maxConnectionsOfNode}`
    const advice = `raise max_connections to ${maxConnectionsOfNode} for each node, plus some for other clients`
    findings.push(warning('database', what, advice))
  }
  const backups = seen.isArchiving
    ? "the database's log is archived (archive_mode); Cairn makes no backup of it"
    : 'Cairn makes no backup of the database: use pg_dump, or pgBackRest, which needs archive_mode on'
  return [...findings, ok('backup', backups)]
}

function judgeCommits(seen: DatabaseSeen): Finding {
  const { synchronousCommit: when, synchronousStandbys: standbys } = seen
  const setting = `synchronous_commit is ${when}`
  if (when === 'off') {
    const what = `the database does not wait for its disk (${setting}): a crash loses acknowledged data`
    return warning('database', what, 'set synchronous_commit = on')
  }
  if (standbys === '') {
    return ok('database', "a commit waits for the database's own disk, and no standby")
  }
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
