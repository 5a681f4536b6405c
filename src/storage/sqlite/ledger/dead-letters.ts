import type { Database } from 'bun:sqlite'
import type { AppendOutcome, PersonIds } from '../../../core/event/stored-event.ts'
import type {
  DeadLetter,
  OperationAudit,
  Retried,
  RetryVerdict,
} from '../../interfaces/operations.ts'
import { inSavepoint } from '../engine/savepoint.ts'
import type { Withholding } from '../erasure/withheld.ts'
import { writeAudit } from '../organisations/audit-log.ts'
import { type Letter, letterIn } from './dead-letter-text.ts'

/** The ids by which a letter names a person. */
export function namesIn(letter: Letter): PersonIds {
  if (!('type' in letter) || letter.type === 'complete' || letter.type === 'tick') return letter
  const person = letter.type === 'health' ? letter.person : null
  const id = person?.slice(1) ?? null
  return person?.startsWith('u')
    ? { userId: id, anonymousId: null }
    : { userId: null, anonymousId: id }
}

/** See `OperationsStore.deadLetters`. */
export function listDeadLetters(
  database: Database,
  orgRow: number | null,
  most: number,
): { letters: DeadLetter[]; count: number } {
  const letters = database
    .query<DeadLetter, [number | null, number]>(
      `select seq as id, public_id as organisation, at as receivedAt, error as reason,
        coalesce(event ->> '$.type', event ->> '$.kind') as kind,
        iif(event ->> '$.type' is null, event ->> '$.id', null) as eventId
      from dead_letters join organisations on organisations.id = org_id
      where org_id = coalesce(?, org_id) order by seq limit ?`,
    )
    .all(orgRow, most)
  return { letters, count: deadLetterIds(database, orgRow).length }
}

/** See `OperationsStore.deadLetterIds`. */
export const deadLetterIds = (
  database: Database,
  orgRow: number | null,
): { id: number; orgRef: number }[] =>
  database
    .query<{ id: number; orgRef: number }, [number | null]>(
      `select seq as id, org_id as orgRef from dead_letters
      where org_id = coalesce(?, org_id) order by seq`,
    )
    .all(orgRow)

/** See `OperationsStore.dropDeadLetters`; within a transaction. */
export function dropDeadLetters(
  database: Database,
  orgRow: number,
  ids: readonly number[],
  audit: OperationAudit,
): number {
  const drop = database.query('delete from dead_letters where org_id = ? and seq = ?')
  const dropped = ids.filter(id => drop.run(orgRow, id).changes > 0)
  if (dropped.length > 0) {
    writeAudit(database, orgRow, [{ ...audit, before: { letters: dropped }, after: null }])
  }
  return dropped.length
}

function statements(database: Database) {
  return {
    letter: database.query<{ at: number; event: string }, [number, number]>(
      'select at, event from dead_letters where seq = ? and org_id = ?',
    ),
    delete: database.query('delete from dead_letters where seq = ? and org_id = ?'),
    setError: database.query('update dead_letters set error = ? where seq = ? and org_id = ?'),
  }
}

/**
 * Stores dead letters after all; see `OperationsStore.retryDeadLetters`. Runs within a transaction of the
 * writer, which alone knows all ids.
 */
export function retryDeadLetters(
  database: Database,
  executor: Withholding,
  orgRow: number,
  ids: readonly number[],
  audit: OperationAudit,
): Retried[] {
  const sql = statements(database)
  const retryOne = (id: number): Retried[] => {
    const found = sql.letter.get(id, orgRow)
    if (!found) return []
    let verdict = 'stored' as RetryVerdict
    const problem = inSavepoint(database, executor.participants, () => {
      verdict = store(executor, orgRow, found)
      executor.settle()
      // It is projected at once, because that may be what the database refuses.
      executor.follower.projectOwn()
    })
    if (problem) {
      verdict = 'refused'
      sql.setError.run(String(problem), id, orgRow)
    } else if (verdict !== 'refused') sql.delete.run(id, orgRow)
    return [{ id, verdict }]
  }
  const retried = ids.flatMap(retryOne)
  if (retried.length > 0) {
    const after = Object.fromEntries(retried.map(({ id, verdict }) => [id, verdict]))
    writeAudit(database, orgRow, [{ ...audit, before: null, after }])
  }
  return retried
}

/**
 * Stores an event with its first time of receipt, or does what a command asks for. Nothing is stored about
 * erased people, whose letters the erasure deletes.
 */
function store(
  executor: Withholding,
  orgRow: number,
  { at, event }: { at: number; event: string },
): RetryVerdict {
  const letter = letterIn(event)
  if (executor.isWithheld(orgRow, letter)) return 'refused'
  if ('type' in letter) {
    executor.execute(letter)
    return 'stored'
  }
  if ('isStored' in letter) {
    executor.follower.projectAgain(orgRow, letter)
    return 'stored'
  }
  const { duplicates } = executor.execute({
    type: 'append',
    orgRow,
    receivedAt: at,
    events: [letter],
    refusals: {},
    skewMs: null,
  }) as AppendOutcome
  return duplicates.length > 0 ? 'duplicate' : 'stored'
}
