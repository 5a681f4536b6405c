import { shellWord } from '../../../core/text/wording.ts'
import { hasAlerts } from '../alerts/alert-store.ts'
import { type ErasureProgress, erasuresDue, finishErasures } from '../erasure/erasures.ts'
import { hasOrganisation } from '../organisations/organisations.ts'
import { copiesIn } from './copies.ts'
import { openForWriting } from './database.ts'
import { requireNoLostDatabase } from './lost-database.ts'
import { migrate, requireKnownSchema, type SchemaState, schemaState } from './migrate.ts'
import { foreignActors } from './schema-check.ts'

export type PreparedDatabase = ReturnType<typeof prepareDatabase>

/**
 * Creates the database, or opens the existing one, before any thread does, so that this process itself can
 * report a database that is damaged, newer or not writable in its own words.
 *
 * @throws SchemaMismatch, DatabaseLost
 */
export function prepareDatabase(dataDir: string, now: number) {
  requireNoLostDatabase(dataDir)
  const database = openForWriting(dataDir)
  try {
    const state = schemaState(database)
    requireUsable(dataDir, state)
    const isNew = state.applied === 0
    if (isNew) migrate(database, now)
    return {
      /** Schema steps that the database has to go through first: see `upgradeDatabase`. */
      due: isNew ? [] : state.due,
      hasOrganisation: () => hasOrganisation(database),
      /** What in it acts by itself and is not Cairn's. */
      foreignActors: () => foreignActors(database),
      /** Whether any organisation wants to be told what is wrong. */
      hasAlerts: () => hasAlerts(database),
      /** Whether `finishErasures` has anything to do. */
      erasuresDue: () => erasuresDue(database, dataDir),
      /** Erases people on the list of erasures whom a restored database still knows, before anybody is told of them. */
      finishErasures: (tell: (progress: ErasureProgress) => void) =>
        finishErasures(database, dataDir, now, tell),
      /**
       * To be called once others have opened the database: the last one to close it writes the whole log back,
       * and nobody should have to wait for that at a start.
       */
      close: () => database.close(),
    }
  } catch (error) {
    database.close()
    throw error
  }
}

/** @throws SchemaMismatch that names the copy with which an older release can go on */
export function requireUsable(dataDir: string, state: SchemaState): void {
  requireKnownSchema(state, state.applied > state.known ? wayBack(dataDir, state.known) : '')
}

function wayBack(dataDir: string, known: number): string {
  const copy = copiesIn(dataDir).find(({ schema }) => schema <= known)
  if (copy === undefined) return ''
  const command = `cairn restore ${shellWord(copy.file)}`
  return `, or give up what was stored since and restore the copy that was made before: ${command}`
}
