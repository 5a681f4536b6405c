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
import {
  error,
  type Finding,
  type Findings,
  isUsableDirectory,
  ok,
  type Subject,
  warning,
} from './findings.ts'

/** How many differences of the schema are named. */
const maxNamed = 5

/** Whether the database can be read, is of this version, and is intact. Writes nothing. */
export function* checkDatabase({ data, databaseUrl, isFull, now }: Subject): Findings {
  if (data === null || databaseUrl !== null || !isUsableDirectory(data)) return
  if (!hasDatabase(data)) {
    const trace = traceOfDatabase(data)
    if (trace !== null) yield error('database', lossOf(data, trace), lostAdvice)
    else if (existsSync(databaseFile(data))) yield emptyDatabase
    else yield warning('database', `No database in ${data}.`, 'Run "cairn org create NAME".')
    return
  }
  using database = openForReading(data)
  if (schemaOf(database) === 0) return yield emptyDatabase
  yield judgeSchema(database)
  yield judgePages(database, data, isFull)
  yield* checkContent(database, data)
  yield judgeClock(database, now)
}

const emptyDatabase = warning(
  'database',
  'cairn.db is empty.',
  'Restore a backup if there was data, or run "cairn org create NAME".',
)

function judgeSchema(database: Database): Finding {
  const schema = schemaOf(database)
  const level = `Database schema ${schema}; this cairn works with ${schemaKnown}`
  if (schema > schemaKnown) return error('database', level, 'Run the newer cairn.')
  const differences = schemaDifferences(database)
  if (differences.length > 0) {
    const more = differences.length - maxNamed
    const named = [...differences.slice(0, maxNamed), ...(more > 0 ? [`${more} more`] : [])]
    const what = `cairn.db has other tables than Cairn makes: ${named.join('; ')}`
    const advice =
      'Stop the server and remove what is not Cairn\'s (sqlite3 cairn.db "drop trigger NAME"), or restore a backup. Backups of this database cannot be restored.'
    return error('database', what, advice)
  }
  if (schema === schemaKnown) return ok('database', level)
  return warning('database', level, 'Make a backup, then start the server to upgrade the database.')
}

function judgePages(database: Database, data: string, isFull: boolean): Finding {
  const [first, ...more] = isFull ? fullCheck(database) : quickCheck(database)
  if (first === undefined) {
    const bytes = sizeOf(statSync(databaseFile(data)).size)
    const how = isFull ? 'full check' : 'quick check; --full checks everything'
    return ok('database', `Database intact, ${bytes} (${how})`)
  }
  const others = more.length === 0 ? '' : `, and ${counted(more.length, 'more problem')}`
  const what = `cairn.db is damaged: ${first.replaceAll('\n', ' ')}${others}`
  const advice = 'Stop the server, keep a copy of the data directory, and restore a backup.'
  return error('database', what, advice)
}

function* checkContent(database: Database, data: string): Findings {
  if (!hasOrganisation(database)) {
    // If commands and server were given different directories, every key is unknown.
    const what = 'No organisation in this data directory.'
    yield warning('database', what, `Run "cairn org create NAME --data ${shellWord(data)}".`)
  }
  const { count, newestAt, newestError } = deadLetterSummary(database)
  if (count > 0) {
    const what = `${counted(count, 'event')} could not be stored, last at ${isoTime(newestAt!)}: ${newestError}`
    yield warning('dead_letters', what, 'Run "cairn dead-letters list".')
  }
  const erasures = unfinishedErasures(database)
  if (erasures === 0) return
  const what = `The erasure of ${counted(erasures, 'person', 'people')} is not finished: files may still hold their data.`
  const advice = 'Restart the server, or run "cairn person erase" again with --compact.'
  yield warning('database', what, advice)
}

/** A clock that was set back gives new events earlier times than older ones. */
function judgeClock(database: Database, now: number): Finding {
  const newest = newestReceipt(database) ?? 0
  const clock = `Clock of this machine: ${isoTime(now)}`
  if (newest <= now + minuteMs) return ok('clock', clock)
  const what = `${clock}, but the newest data was stored at ${isoTime(newest)}`
  return error('clock', what, 'Set the clock, and synchronise it with NTP.')
}
