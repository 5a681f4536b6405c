import type { Database } from 'bun:sqlite'
import { eraseAboutPerson, eraseDeadLetters, eraseStepReports } from './erase-facts.ts'
import { eraseLedger } from './erase-ledger.ts'
import { eraseRuns } from './erase-runs.ts'
import { type ErasureRow, ErasureTable } from './erasure-table.ts'
import { ErasureWork } from './erasure-work.ts'
import { tracesOf } from './traces.ts'

/** What an erasure is busy with, and how much of that it has just done. */
export interface ErasureStep {
  at: 'reading events' | 'renaming runs' | 'rewriting events'
  done: number
}

/** Does a part of an erasure, and tells how much of it is done. */
function* telling<T>(at: ErasureStep['at'], part: Generator<number, T>): Generator<ErasureStep, T> {
  for (;;) {
    const next = part.next()
    if (next.done) return next.value
    yield { at, done: next.value }
  }
}

/**
 * Erases a person, also beside a running server: others get their turn between two steps. The person's
 * runs and events stay under a name that nobody can trace, with what happened, where and when, so that
 * every count stays as it was, also after a rebuild. Everything else of theirs is overwritten. `compact`
 * and `emptyLog` remove what is left of it in unused parts of the file.
 *
 * The runs come first, because the ledger says which are theirs. An interrupted erasure is done again
 * from its beginning, with the same result.
 *
 * @returns the rows of the ledger that were rewritten; null if the person was erased before
 */
export function* erase(
  database: Database,
  row: ErasureRow,
): Generator<ErasureStep, readonly number[] | null> {
  database.run('pragma secure_delete = on')
  // Others write too, and this can wait.
  database.run('pragma busy_timeout = 60000')
  if (row.secret === null) return null

  const work = new ErasureWork(database, { ...row, secret: row.secret })
  // Of somebody of whom nothing is stored there is a receipt too.
  work.step(() => ({}))
  const traces = yield* telling('reading events', tracesOf(work))
  yield* telling('renaming runs', eraseDeadLetters(work))
  if (traces !== null) {
    yield* telling('renaming runs', eraseRuns(work, traces))
    yield* telling('renaming runs', eraseAboutPerson(work, traces))
    yield* telling('renaming runs', eraseStepReports(work, traces))
    yield* telling('rewriting events', eraseLedger(work, traces))
  }
  new ErasureTable(database).renamed(row)
  return traces?.batches ?? []
}
