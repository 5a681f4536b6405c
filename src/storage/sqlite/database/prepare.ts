import { shellWord } from '../../../core/text/wording.ts'
import { hasAlerts } from '../alerts/alert-store.ts'
import { type ErasureProgress, erasuresDue, finishErasures } from '../erasure/erasures.ts'
import { hasOrganisation } from '../organisations/organisations.ts'
import { copiesIn } from './copies.ts'
import { openForWriting } from './database.ts'
import { requireNoLostDatabase } from './lost-database.ts'
import {
  type MigrationStep,
  migrate,
  requireKnownSchema,
  type SchemaState,
  schemaState,
} from './migrate.ts'

export interface PreparedDatabase {
  /** Steps of the schema that its data has to be brought through first: see `upgradeDatabase`. */
  due: readonly MigrationStep[]
  hasOrganisation(): boolean
  /** Whether any organisation wants to be told of what is wrong. */
  hasAlerts(): boolean
  /** Whether `finishErasures` has anything to do. */
  erasuresDue(): boolean
  /**
   * Erases people whom the list of erasures names and a restored database knows, before anybody is
   * told of them.
   */
  finishErasures(tell: (progress: ErasureProgress) => void): ReturnType<typeof finishErasures>
  /**
   * To be called once others have opened it: the last one to close a database writes its whole log
   * back into it, for which nobody should have to wait at a start.
   */
  close(): void
}

/**
 * Makes the database, or opens the one that is there, before any thread does, so that one that is
 * damaged, newer or not to be written is told by this process in its own words.
 *
 * @throws SchemaMismatch, DatabaseLost
 */
export function prepareDatabase(dataDir: string, now: number): PreparedDatabase {
  requireNoLostDatabase(dataDir)
  const database = openForWriting(dataDir)
  try {
    const state = schemaState(database)
    requireUsable(dataDir, state)
    const isNew = state.applied === 0
    if (isNew) migrate(database, now)
    return {
      due: isNew ? [] : state.due,
      hasOrganisation: () => hasOrganisation(database),
      hasAlerts: () => hasAlerts(database),
      erasuresDue: () => erasuresDue(database, dataDir),
      finishErasures: tell => finishErasures(database, dataDir, now, tell),
      close: () => database.close(),
    }
  } catch (error) {
    database.close()
    throw error
  }
}

/** @throws SchemaMismatch that names the copy by which an older release can go on */
export function requireUsable(dataDir: string, state: SchemaState): void {
  requireKnownSchema(state, state.applied > state.known ? wayBack(dataDir, state.known) : '')
}

function wayBack(dataDir: string, known: number): string {
  const copy = copiesIn(dataDir).find(({ schema }) => schema <= known)
  if (copy === undefined) return ''
  const command = `cairn restore ${shellWord(copy.file)}`
  return `, or give up what was stored since and restore the copy that was made before: ${command}`
}
