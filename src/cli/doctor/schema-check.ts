import type { Database } from 'bun:sqlite'
import { hasDatabase, openForReading } from '../../storage/sqlite/database/database.ts'
import { schemaKnown, schemaOf } from '../../storage/sqlite/database/migrate.ts'
import { schemaDifferences } from '../../storage/sqlite/database/schema-check.ts'
import { type DataSubject, error, type Finding, ok, warning } from './finding.ts'

/** How many differences of the schema are named. */
const maxNamed = 5

/** Whether the tables of the database are those that this release works with. */
export function checkSchema({ data }: DataSubject): Finding[] {
  if (!hasDatabase(data)) return []
  try {
    using database = openForReading(data)
    return [findingOf(database)]
  } catch {
    // What is wrong with the file itself is reported by the check of the database.
    return []
  }
}

function findingOf(database: Database): Finding {
  const schema = schemaOf(database)
  if (schema === 0) {
    const advice = 'restore a backup if there was data; else the next command makes its tables'
    return warning('database', 'cairn.db is empty', advice)
  }
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
  if (schema < schemaKnown) {
    return warning('database', level, 'make a backup, then start the server: it changes the tables')
  }
  return ok('database', `the database has schema ${schema}, the newest that this cairn knows`)
}
