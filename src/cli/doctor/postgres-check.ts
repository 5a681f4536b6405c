import { maxApartMs } from '../../storage/log/log.ts'
import {
  type DatabaseSeen,
  inspectDatabase,
  runningNodes,
} from '../../storage/log/postgres/inspection.ts'
import { error, type Finding, ok, type Subject, warning } from './finding.ts'

/** Clocks that are synchronised with NTP differ by less, milliseconds. */
const tolerableMs = 1_000

/** The database that several servers share, if there is one. */
export async function checkPostgres({ databaseUrl, config }: Subject): Promise<Finding[]> {
  if (databaseUrl === null) return []
  const seen = await inspectDatabase(databaseUrl, Date.now)
  const findings = judgePostgres(seen)
  if (seen.log === null) {
    return [...findings, ok('database', 'Empty database. The first server sets it up.')]
  }
  const nodes = await runningNodes(databaseUrl)
  if (nodes > 1 && config?.limitsUrl === null) {
    const what = `${nodes} nodes count requests separately, so an organisation can send its limit to each.`
    findings.push(warning('limits', what, 'Set CAIRN_LIMITS_URL.'))
  }
  return findings
}

export function judgePostgres(seen: DatabaseSeen): Finding[] {
  const { place, version, isEncrypted, aheadMs } = seen
  const findings = [ok('database', `PostgreSQL ${version} at ${place}`), judgeCommits(seen)]
  const off = [seen.fsync ? '' : 'fsync', seen.fullPageWrites ? '' : 'full_page_writes']
  for (const name of off.filter(Boolean)) {
    const what = `PostgreSQL has ${name} off: a crash of its machine can damage all data.`
    findings.push(error('database', what, `Set ${name} = on.`))
  }
  if (!isEncrypted && !/^(localhost|127\.[\d.]+|\[::1\]):/.test(place)) {
    const advice = 'Add ?sslmode=verify-full to the URL, unless the network is private.'
    findings.push(warning('database', 'The connection to PostgreSQL is not encrypted.', advice))
  }
  if (Math.abs(aheadMs) > tolerableMs) {
    const side = aheadMs > 0 ? 'ahead of' : 'behind'
    const seconds = (Math.abs(aheadMs) / 1_000).toFixed(1)
    const what = `The clock of the PostgreSQL machine is ${seconds} s ${side} this one.`
    const isTooFar = Math.abs(aheadMs) > maxApartMs
    const stops = isTooFar ? ' The server rejects writes.' : ''
    const advice = 'Synchronise both machines with NTP.'
    findings.push((isTooFar ? error : warning)('clock', what + stops, advice))
  }
  const backups = seen.isArchiving
    ? 'PostgreSQL archives its log. Cairn does not back it up.'
    : 'Cairn does not back up PostgreSQL. Use pg_dump or pgBackRest.'
  return [...findings, ok('backup', backups)]
}

function judgeCommits({ synchronousCommit, synchronousStandbys: standbys }: DatabaseSeen): Finding {
  const setting = `synchronous_commit is ${synchronousCommit}`
  const isLocal = synchronousCommit === 'local' && standbys !== ''
  if (synchronousCommit === 'off' || isLocal) {
    const what = `A ${isLocal ? 'failover' : 'crash'} loses acknowledged data: ${setting}.`
    return warning('database', what, 'Set synchronous_commit = on.')
  }
  return ok('database', `Commits wait for ${standbys === '' ? 'the disk' : standbys}; ${setting}`)
}
