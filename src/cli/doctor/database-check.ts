import type { Database } from 'bun:sqlite'
import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { attempt } from '../../core/attempt.ts'
import { refusedShare, type UserHashCounts } from '../../core/organisation/verified-identity.ts'
import { shellWord } from '../../core/text/wording.ts'
import { isoTime } from '../../core/time/clock.ts'
import { minuteMs } from '../../core/time/durations.ts'
import { webhookFinding } from '../../modules/alerts/index.ts'
import type { WebhookState } from '../../modules/alerts/port.ts'
import {
  databaseFile,
  hasDatabase,
  openForReading,
} from '../../storage/sqlite/database/database.ts'
import {
  type DeadLetters,
  deadLetterSummary,
  fullCheck,
  newestReceipt,
  quickCheck,
  refusingIdentities,
  unfinishedErasures,
  webhookStates,
} from '../../storage/sqlite/database/inspect.ts'
import { lossOf, lostAdvice, traceOfDatabase } from '../../storage/sqlite/database/lost-database.ts'
import { schemaOf } from '../../storage/sqlite/database/migrate.ts'
import { hasOrganisation } from '../../storage/sqlite/organisations/organisations.ts'
import { explained } from '../failure.ts'
import { counted, sizeOf, tell } from '../output.ts'
import { liveLine } from '../progress.ts'
import { type DataSubject, error, type Finding, ok, warning } from './finding.ts'
import { serverProcess } from './server-check.ts'

const damaged = 'stop the server, keep a copy of the data directory, and restore a backup'
/** Above this size the user is told that a check takes a while: a disk reads some hundred megabytes a second. */
const largeBytes = 2e9
/** A log that checkpoints keep up with is truncated to 64 MiB. */
const largeLogBytes = 256e6

/** Whether the database can be read, is of this version, and is whole. Writes nothing. */
export function checkDatabase(subject: DataSubject): Finding[] {
  const { data } = subject
  if (!hasDatabase(data)) return [checkTrace(data)]
  try {
    using database = openForReading(data)
    const files = [...checkLog(data), ...checkPages(database, data, subject.isFull)]
    // `checkSchema` says that it is empty.
    if (schemaOf(database) === 0) return files
    return [
      ...checkOrganisations(database, data),
      ...files,
      judgeDeadLetters(deadLetterSummary(database)),
      ...judgeWebhooks(webhookStates(database), subject.now),
      ...checkErasures(database),
      ...judgeIdentities(refusingIdentities(database, subject.now)),
      ...checkClock(database, data, subject.now),
    ]
  } catch (fault) {
    return [unreadable(data, fault)]
  }
}

function checkTrace(data: string): Finding {
  const trace = traceOfDatabase(data)
  if (trace === null) {
    if (existsSync(databaseFile(data))) {
      const advice = 'restore a backup if there was data; else begin with "cairn org create NAME"'
      return warning('database', 'cairn.db is empty', advice)
    }
    const advice = 'begin with "cairn org create NAME"'
    return warning('database', `${data} holds no database yet`, advice)
  }
  return error('database', lossOf(data, trace), lostAdvice)
}

function unreadable(data: string, fault: unknown): Finding {
  const file = databaseFile(data)
  const { code = '', message } = fault as { code?: string; message?: string }
  if (!statSync(file).isFile()) return error('database', `${file} is not a file`, damaged)
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) {
    return error('database', `cairn.db is damaged, or no database (${code}: ${message})`, damaged)
  }
  if (/^SQLITE_(READONLY|CANTOPEN|PERM|AUTH)/.test(code)) {
    const advice =
      'give this user read and write access to it and its directory, or run as a user with access'
    return error('database', `cairn.db cannot be opened by this user (${code})`, advice)
  }
  return error('database', explained(fault).lines.join(' '), null)
}

/** If commands and server were given different directories, every key is unknown. */
function checkOrganisations(database: Database, data: string): Finding[] {
  if (hasOrganisation(database)) return []
  const what = 'there is no organisation in this data directory yet'
  return [warning('database', what, `cairn org create NAME --data ${shellWord(data)}`)]
}

function checkLog(data: string): Finding[] {
  const bytes = statSync(`${databaseFile(data)}-wal`, { throwIfNoEntry: false })?.size ?? 0
  if (bytes < largeLogBytes) return []
  const what = `the write-ahead log has grown to ${sizeOf(bytes)}, so something blocks its checkpoints`
  const holders = programsWith(databaseFile(data), serverProcess(data))
  const advice =
    holders.length === 0
      ? 'look for a program that has cairn.db open, or restart the server'
      : `stop or restart the other programs that have cairn.db open: ${holders.join(', ')}`
  return [warning('database', what, advice)]
}

function checkPages(database: Database, data: string, isFull: boolean): Finding[] {
  const bytes = statSync(databaseFile(data)).size
  if (bytes > largeBytes) {
    tell(`cairn: checking ${sizeOf(bytes)} of database, which takes a while`)
  }
  const faults = isFull ? fullCheck(database) : quickFaults(database)
  const [first, second] = faults
  if (first === undefined) {
    const how = isFull ? 'every page, index and reference' : 'its pages; --full looks at everything'
    return [ok('database', `cairn.db, ${sizeOf(bytes)}, is whole (${how})`)]
  }
  const more = second === undefined ? '' : `, and ${counted(faults.length - 1, 'more fault')}`
  return [error('database', `cairn.db is damaged: ${first.replaceAll('\n', ' ')}${more}`, damaged)]
}

function quickFaults(database: Database): string[] {
  const faults: string[] = []
  const line = liveLine()
  for (const { done, tables, faults: found } of quickCheck(database)) {
    faults.push(...found)
    line.show(`checked ${done} of ${tables} tables`)
  }
  line.end()
  return faults
}

/** The finding about events that a database has refused, whichever database it is. */
function judgeDeadLetters({ count, newestAt, newestError }: DeadLetters): Finding {
  if (count === 0) return ok('dead_letters', 'there are no dead letters')
  const newest = newestAt === null ? '' : `, the newest since ${isoTime(newestAt)}: ${newestError}`
  const what = `${counted(count, 'event')} could not be stored and ${count === 1 ? 'waits as a dead letter' : 'wait as dead letters'}${newest}`
  return warning('dead_letters', what, 'see them: cairn dead-letters list')
}

/** The same for webhooks. */
function judgeWebhooks(
  webhooks: readonly (WebhookState & { slug: string })[],
  now: number,
): Finding[] {
  return webhooks.flatMap(({ slug, ...webhook }) => {
    const found = webhookFinding(webhook, now)
    if (found === null) return []
    const what = `${slug}: ${found.message.replace(/\.$/, '')} (since ${found.since})`
    const advice = `see why: cairn alerts webhook deliveries ${webhook.id} --org ${shellWord(slug)}`
    return [warning('webhooks', what, advice)]
  })
}

function checkErasures(database: Database): Finding[] {
  const count = unfinishedErasures(database)
  if (count === 0) return []
  const what = `the erasure of ${counted(count, 'person', 'people')} is not finished: the files may still hold something of them`
  const advice = 'the next start finishes it; or run "cairn person erase" with --compact again'
  return [warning('database', what, advice)]
}

/** The same for user hashes. */
function judgeIdentities(refusing: readonly { slug: string; counts: UserHashCounts }[]): Finding[] {
  return refusing.map(({ slug, counts }) => {
    const { refused, all } = refusedShare(counts)
    const what = `${slug} verifies identities, and of ${all} calls and events of the last 24 hours ${refused} had no right userHash (${counts.invalid} wrong, ${counts.missing} missing)`
    return warning(
      'identity',
      what,
      `see it by hours: cairn org identity show --org ${shellWord(slug)}`,
    )
  })
}

/** A clock that was set back gives new events earlier times than older ones. */
function checkClock(database: Database, data: string, now: number): Finding[] {
  const files = [databaseFile(data), `${databaseFile(data)}-wal`]
  const written = files.map(file => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0)
  const newest = Math.max(newestReceipt(database) ?? 0, ...written)
  const clock = `the clock of this machine says ${isoTime(now)}`
  if (newest <= now + minuteMs) return [ok('clock', `${clock}, after all that was stored`)]
  const what = `${clock}, but the newest data was stored at ${isoTime(newest)}`
  return [error('clock', what, 'set the clock, and keep it in sync with NTP')]
}

/**
 * Programs that have a file open, by name and process, except this one and the server. Known only on Linux,
 * and only for this user's processes (for root: all).
 */
function programsWith(file: string, server: number | null): string[] {
  const path = realpathSync(file)
  return processes()
    .filter(pid => pid !== process.pid && pid !== server && hasOpen(pid, path))
    .map(pid => `${nameOf(pid)} (process ${pid})`)
}

// A system without such files tells nothing, nor does another user's process.

const processes = () => attempt(() => readdirSync('/proc').map(Number).filter(Number.isInteger), [])

/** A file may be closed meanwhile. */
const hasOpen = (pid: number, path: string) =>
  attempt(() => readdirSync(`/proc/${pid}/fd`), []).some(
    fd => attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`), null) === path,
  )

const nameOf = (pid: number) =>
  attempt(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim(), 'a program')
