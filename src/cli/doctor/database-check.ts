import type { Database } from 'bun:sqlite'
import { existsSync, statSync } from 'node:fs'
import { shellWord } from '../../core/text/wording.ts'
import { isoTime } from '../../core/time/clock.ts'
import { minuteMs } from '../../core/time/durations.ts'
import {
  databaseFile,
  hasDatabase,
  openForReading,
} from '../../storage/sqlite/database/database.ts'
import {
  deadLetterSummary,
  fullCheck,
  newestReceipt,
  quickCheck,
  unfinishedErasures,
} from '../../storage/sqlite/database/inspect.ts'
import { lossOf, lostAdvice, traceOfDatabase } from '../../storage/sqlite/database/lost-database.ts'
import { schemaKnown, schemaOf } from '../../storage/sqlite/database/migrate.ts'
import { schemaDifferences } from '../../storage/sqlite/database/schema-check.ts'
import { hasOrganisation } from '../../storage/sqlite/organisations/organisations.ts'
import { counted, sizeOf } from '../output.ts'
import { error, type Finding, isUsableDirectory, ok, type Subject, warning } from './finding.ts'

const damaged = 'stop the server, keep a copy of the data directory, and restore a backup'
/** A write-ahead log that checkpoints keep up with is truncated to 64 MiB. */
const largeLogBytes = 256e6
/** How many differences of the schema are named. */
const maxNamed = 5

/** Whether the database can be read, is of this version, and is sound. Writes nothing. */
export function checkDatabase({ data, databaseUrl, isFull, now }: Subject): Finding[] {
  if (data === null || databaseUrl !== null || !isUsableDirectory(data)) return []
  if (!hasDatabase(data)) return [checkTrace(data)]
  using database = openForReading(data)
  if (schemaOf(database) === 0) return [emptyDatabase]
  return [
    checkSchema(database),
    ...checkPages(database, data, isFull),
    ...checkContent(database, data, now),
  ]
}

function checkTrace(data: string): Finding {
  const trace = traceOfDatabase(data)
  if (trace !== null) return error('database', lossOf(data, trace), lostAdvice)
  if (existsSync(databaseFile(data))) return emptyDatabase
  const advice = 'begin with "cairn org create NAME"'
  return warning('database', `${data} holds no database yet`, advice)
}

const emptyDatabase = warning(
  'database',
  'cairn.db is empty',
  'restore a backup if there was data; else begin with "cairn org create NAME"',
)

function checkSchema(database: Database): Finding {
  const schema = schemaOf(database)
  const level = `the database has schema ${schema}, and this cairn knows ${schemaKnown}`
  if (schema > schemaKnown) return error('database', level, 'run the newer cairn')
  const differences = schemaDifferences(database)
  if (differences.length > 0) {
    const named = differences.slice(0, maxNamed).join('; ')
    const rest = differences.length - maxNamed
    const what = `cairn.db is not as Cairn makes it: ${named}${rest > 0 ? `; ${rest} more` : ''}`
    const advice =
      'stop the server and remove what is not Cairn\'s (sqlite3 cairn.db "drop trigger NAME"), or restore a backup: no backup of it can be restored'
    return error('database', what, advice)
  }
  if (schema === schemaKnown) return ok('database', level)
  return warning('database', level, 'make a backup, then start the server: it changes the tables')
}

function checkPages(database: Database, data: string, isFull: boolean): Finding[] {
  const [bytes = 0, logBytes = 0] = ['', '-wal'].map(
    suffix => statSync(databaseFile(data) + suffix, { throwIfNoEntry: false })?.size,
  )
  const findings: Finding[] = []
  const [first, ...more] = isFull ? fullCheck(database) : quickCheck(database)
  if (first === undefined) {
    const how = isFull ? 'every page, index and reference' : 'its pages; --full checks everything'
    findings.push(ok('database', `cairn.db, ${sizeOf(bytes)}, is sound (${how})`))
  } else {
    const others = more.length === 0 ? '' : `, and ${counted(more.length, 'more fault')}`
    const what = `cairn.db is damaged: ${first.replaceAll('\n', ' ')}${others}`
    findings.push(error('database', what, damaged))
  }
  if (logBytes >= largeLogBytes) {
    const what = `the write-ahead log has grown to ${sizeOf(logBytes)}, so something blocks its checkpoints`
    const advice =
      'stop other programs that have cairn.db open ("fuser" lists them), or restart the server'
    findings.push(warning('database', what, advice))
  }
  return findings
}

function checkContent(database: Database, data: string, now: number): Finding[] {
  const findings: Finding[] = []
  if (!hasOrganisation(database)) {
    // If commands and server were given different directories, every key is unknown.
    const what = 'there is no organisation in this data directory yet'
    findings.push(warning('database', what, `cairn org create NAME --data ${shellWord(data)}`))
  }
  const { count, newestAt, newestError } = deadLetterSummary(database)
  if (count > 0) {
    const what = `${counted(count, 'event')} could not be stored, the newest at ${isoTime(newestAt!)}: ${newestError}`
    findings.push(warning('dead_letters', what, 'see them: cairn dead-letters list'))
  }
  const erasures = unfinishedErasures(database)
  if (erasures > 0) {
    const what = `the erasure of ${counted(erasures, 'person', 'people')} is not finished: the files may still hold something of them`
    const advice = 'the next start finishes it; or run "cairn person erase" with --compact again'
    findings.push(warning('database', what, advice))
  }
  return [...findings, checkClock(database, now)]
}

/** A clock that was set back gives new events earlier times than older ones. */
function checkClock(database: Database, now: number): Finding {
  const newest = newestReceipt(database) ?? 0
  const clock = `the clock of this machine says ${isoTime(now)}`
  if (newest <= now + minuteMs) return ok('clock', `${clock}, after all that was stored`)
  const what = `${clock}, but the newest data was stored at ${isoTime(newest)}`
  return error('clock', what, 'set the clock, and keep it in sync with NTP')
}
