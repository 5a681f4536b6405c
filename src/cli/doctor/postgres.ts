import { maxApartMs } from '../../storage/log/log.ts'
import {
  type DatabaseSeen,
  inspectDatabase,
  runningNodes,
} from '../../storage/log/postgres/inspection.ts'
import { error, type Finding, type Findings, ok, type Subject, warning } from './findings.ts'

/** Clocks that are synchronised with NTP differ by less, milliseconds. */
const tolerableMs = 1_000

/** The database that several servers share, if there is one. */
export async function* checkPostgres({ databaseUrl, config }: Subject): AsyncGenerator<Finding> {
  if (databaseUrl === null) return
  const seen = await inspectDatabase(databaseUrl, Date.now)
  yield* judgePostgres(seen)
  if (seen.log === null) {
    return yield ok('database', 'Empty database. The first server sets it up.')
  }
  const nodes = await runningNodes(databaseUrl)
  if (nodes > 1 && config?.limitsUrl === null) {
    const what = `${nodes} nodes count requests separately, so an organisation can send its limit to each.`
    yield warning('limits', what, 'Set CAIRN_LIMITS_URL.')
  }
}

export function* judgePostgres(seen: DatabaseSeen): Findings {
  const { place, version, isEncrypted, aheadMs } = seen
  yield ok('database', `PostgreSQL ${version} at ${place}`)
  yield judgeCommits(seen)
  const off = [seen.fsync ? '' : 'fsync', seen.fullPageWrites ? '' : 'full_page_writes']
  for (const name of off.filter(Boolean)) {
    const what = `PostgreSQL has ${name} off: a crash of its machine can damage all data.`
    yield error('database', what, `Set ${name} = on.`)
  }
  if (!isEncrypted && !/^(localhost|127\.[\d.]+|\[::1\]):/.test(place)) {
    const advice = 'Add ?sslmode=verify-full to the URL, unless the network is private.'
    yield warning('database', 'The connection to PostgreSQL is not encrypted.', advice)
  }
  if (Math.abs(aheadMs) > tolerableMs) {
    const side = aheadMs > 0 ? 'ahead of' : 'behind'
    const seconds = (Math.abs(aheadMs) / 1_000).toFixed(1)
    const what = `The clock of the PostgreSQL machine is ${seconds} s ${side} this one.`
    const isTooFar = Math.abs(aheadMs) > maxApartMs
    const stops = isTooFar ? ' The server rejects writes.' : ''
    const advice = 'Synchronise both machines with NTP.'
    yield (isTooFar ? error : warning)('clock', what + stops, advice)
  }
  yield ok(
    'backup',
    seen.isArchiving
      ? 'PostgreSQL archives its log. Cairn does not back it up.'
      : 'Cairn does not back up PostgreSQL. Use pg_dump or pgBackRest.',
  )
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
