import { AppError, invalid } from '../../core/errors.ts'
import type { Auditor } from '../../core/organisation/audit.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import type { OperationsStore, Retried } from '../../storage/interfaces/operations.ts'
import type { RequestedLetters } from './schema.ts'

/** Dead letters per transaction, because the commits of others wait for it. */
const lettersAtOnce = 64

/**
 * Stores dead letters after all, with the time at which they were first received.
 *
 * @param orgRef only those of one organisation; null for all
 * @throws AppError `validation_failed`, `dead_letter_not_found`: then nothing is done
 */
export async function retryDeadLetters(
  store: OperationsStore,
  orgRef: OrganisationRef | null,
  requested: RequestedLetters,
  audit: Auditor,
): Promise<Retried[]> {
  const entry = audit('dead_letters.retry', 'dead letters')
  const retried: Retried[] = []
  for (const { ref, ids } of await batchesOf(store, orgRef, requested)) {
    retried.push(...(await store.retryDeadLetters(ref, ids, entry)))
  }
  return retried
}

/** Deletes dead letters permanently; returns how many. @throws AppError as `retryDeadLetters` */
export async function dropDeadLetters(
  store: OperationsStore,
  orgRef: OrganisationRef | null,
  requested: RequestedLetters,
  audit: Auditor,
): Promise<number> {
  const entry = audit('dead_letters.drop', 'dead letters')
  let dropped = 0
  for (const { ref, ids } of await batchesOf(store, orgRef, requested)) {
    dropped += await store.dropDeadLetters(ref, ids, entry)
  }
  return dropped
}

/** The requested dead letters, in batches of one organisation each. */
async function batchesOf(
  store: OperationsStore,
  orgRef: OrganisationRef | null,
  { ids, all }: RequestedLetters,
): Promise<{ ref: OrganisationRef; ids: number[] }[]> {
  if ((all ?? false) === (ids !== undefined)) {
    throw invalid({ path: '', message: 'Send either "ids" or "all"' })
  }
  const stored = await store.deadLetterIds(orgRef)
  const storedIds = new Set(stored.map(({ id }) => id))
  const wanted = new Set(ids ?? storedIds)
  const missing = [...wanted.difference(storedIds)]
  if (missing.length > 0) {
    const some = missing.slice(0, 5).join(', ')
    throw new AppError('dead_letter_not_found', `There is no dead letter ${some}`)
  }
  const byOrganisation = Map.groupBy(
    stored.filter(({ id }) => wanted.has(id)),
    letter => letter.orgRef,
  )
  return [...byOrganisation].flatMap(([ref, letters]) =>
    Array.from({ length: Math.ceil(letters.length / lettersAtOnce) }, (_, i) => ({
      ref,
      ids: letters.slice(i * lettersAtOnce, (i + 1) * lettersAtOnce).map(({ id }) => id),
    })),
  )
}
