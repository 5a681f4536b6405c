import type { Database } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { shellWord, shown } from '../../core/text/wording.ts'
import { dayMs } from '../../core/time/durations.ts'
import { isHeld } from '../../runtime/lock.ts'
import { type Copy, copiesIn } from '../../storage/sqlite/database/copies.ts'
import { hasDatabase, openForReading } from '../../storage/sqlite/database/database.ts'
import { type SchemaState, schemaState } from '../../storage/sqlite/database/migrate.ts'
import { schemaDifferences } from '../../storage/sqlite/database/schema-check.ts'
import { upgradeNote } from '../../storage/sqlite/database/upgrade-note.ts'
import { counted, sizeOf } from '../output.ts'
import { type DataSubject, error, type Finding, ok, warning } from './finding.ts'

/** For how long a copy from before a migration is worth its room and is not reported. */
const wantedForDays = 30
/** How many differences of the schema are named. */
const mostNamed = 5

/** Whether the database fits this release, and what a migration has left behind. */
export function checkMigration({ data, now }: DataSubject): Finding[] {
  if (!hasDatabase(data)) return []
  try {
    using database = openForReading(data)
    const state = schemaState(database)
    const copies = copiesIn(data)
    const isDone = state.due.length === 0
    return [
      ...checkSchema(database, state, copies),
      ...(isDone ? [] : checkUnfinished(data, state)),
      ...(isDone ? checkCopies(copies, now) : []),
    ]
  } catch {
    // What is wrong with the file itself is reported by the check of the database.
    return []
  }
}

function checkSchema(
  database: Database,
  { applied, known, differing }: SchemaState,
  copies: Copy[],
): Finding[] {
  if (applied === 0) {
    const advice = 'restore a backup if there was data; else the next command makes its tables'
    return [warning('database', 'cairn.db is empty', advice)]
  }
  const level = `the database has schema ${applied}, and this cairn knows ${known}`
  if (applied > known) {
    const copy = copies.find(({ schema }) => schema <= known)
    const wayBack = `, or give up what was stored since: cairn restore ${copy && shellWord(copy.file)}`
    return [error('database', level, `run the newer cairn${copy ? wayBack : ''}`)]
  }
  if (differing.length > 0) {
    const what = `step ${differing.join(', ')} of the database's schema is not the one this cairn has`
    return [error('database', what, 'run the cairn release that made it')]
  }
  const differences = schemaDifferences(database)
  if (differences.length > 0) {
    const named = differences.slice(0, mostNamed).join('; ')
    const rest = differences.length - mostNamed
    const what = `cairn.db is not as Cairn makes it: ${named}${rest > 0 ? `; ${rest} more` : ''}`
    const advice =
      'stop the server and remove what is not Cairn\'s (sqlite3 cairn.db "drop trigger NAME"), or restore a backup: no backup of it can be restored'
    return [error('database', what, advice)]
  }
  if (applied < known) {
    const advice = 'run "cairn migrate", or start the server: both make a copy of it first'
    return [warning('database', level, advice)]
  }
  return [ok('database', `the database has schema ${applied}, the newest that this cairn knows`)]
}

/** Every step is either complete or not made, so nothing has to be repaired. */
function checkUnfinished(data: string, { applied }: SchemaState): Finding[] {
  const note = upgradeNote(data)
  if (note === null || isHeld(data)) return []
  const what = `a migration of the database from schema ${note.from} to ${note.to}, begun at ${note.startedAt}, `
  const state = `the database is whole, at schema ${applied}`
  if (note.failure === null) {
    const advice = `${state}: "cairn migrate", or the next start, resumes it`
    return [warning('migration', `${what}was stopped or killed`, advice)]
  }
  const advice = `${state}: fix the cause, then run "cairn migrate", or the earlier release`
  return [error('migration', `${what}has failed: ${shown(note.failure, 300)}`, advice)]
}

function checkCopies(copies: Copy[], now: number): Finding[] {
  const sizes = copies.map(({ file }) => statSync(file, { throwIfNoEntry: false }))
  const [newest] = sizes
  if (!newest) return []
  const days = Math.floor((now - newest.mtimeMs) / dayMs)
  const bytes = sizes.reduce((sum, size) => sum + (size?.size ?? 0), 0)
  const what = `${counted(copies.length, 'database')} of before a migration ${copies.length === 1 ? 'is' : 'are'} kept (${sizeOf(bytes)}), the newest for ${counted(days, 'day')}`
  if (days < wantedForDays) return [ok('migration', what)]
  const files = copies.map(({ file }) => shellWord(file)).join(' ')
  const advice = `once you no longer want to go back to the earlier release: rm ${files}`
  return [warning('migration', what, advice)]
}
