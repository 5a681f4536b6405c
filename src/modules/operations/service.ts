import { AppError, invalid } from '../../core/errors.ts'
import type { Actor } from '../../core/organisation/audit.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import type { Clock } from '../../core/time/clock.ts'
import type {
  Compacted,
  OperationAudit,
  OperationsStore,
  RebuildProgress,
  Rebuilt,
  Retried,
} from '../../storage/interfaces/operations.ts'

/** Letters per transaction, because the commits of others wait for it. */
const lettersAtOnce = 64

/** Which letters are meant: some by their ids, or all. */
export interface RequestedLetters {
  ids?: readonly number[]
  all?: true
}

/** What the operator does to the database. Each action leaves a line in the audit log. */
export class Operations {
  constructor(
    private readonly store: OperationsStore,
    private readonly clock: Clock,
  ) {}

  /**
   * Stores dead letters after all, with the time at which they were first received.
   *
   * @param orgRef only those of one organisation; null for all
   * @throws AppError `validation_failed`, `dead_letter_not_found`: then nothing is done
   */
  async retryLetters(
    orgRef: OrganisationRef | null,
    requested: RequestedLetters,
    actor: Actor,
  ): Promise<Retried[]> {
    const audit = this.auditOf('dead_letters.retry', 'dead letters', actor)
    const retried: Retried[] = []
    for (const { ref, ids } of await this.chosen(orgRef, requested)) {
      retried.push(...(await this.store.retryDeadLetters(ref, ids, audit())))
    }
    return retried
  }

  /** Deletes letters for good; returns how many. @throws AppError as `retryLetters` */
  async dropLetters(
    orgRef: OrganisationRef | null,
    requested: RequestedLetters,
    actor: Actor,
  ): Promise<number> {
    const audit = this.auditOf('dead_letters.drop', 'dead letters', actor)
    let dropped = 0
    for (const { ref, ids } of await this.chosen(orgRef, requested)) {
      dropped += await this.store.dropDeadLetters(ref, ids, audit())
    }
    return dropped
  }

  /** See `OperationsStore.rebuild`. */
  rebuild(actor: Actor, tell: (progress: RebuildProgress) => void): Promise<Rebuilt> {
    return this.store.rebuild(this.auditOf('analytics.rebuild', 'all flows', actor)(), tell)
  }

  /** See `OperationsStore.compact`. */
  compact(actor: Actor): Promise<Compacted> {
    return this.store.compact(this.auditOf('database.compact', 'the database', actor)())
  }

  /** The letters that are meant, in batches of one organisation each. */
  private async chosen(orgRef: OrganisationRef | null, { ids, all }: RequestedLetters) {
    if ((all ?? false) === (ids !== undefined)) {
      throw invalid({ path: '', message: 'Name letters by their ids, or all, one of the two' })
    }
    const known = await this.store.deadLetterIds(orgRef)
    const isKnown = new Set(known.map(({ id }) => id))
    const wanted = new Set(ids ?? isKnown)
    const unknown = [...wanted.difference(isKnown)]
    if (unknown.length > 0) {
      const some = unknown.slice(0, 5).join(', ')
      throw new AppError('dead_letter_not_found', `There is no dead letter ${some}`)
    }
    const meant = Map.groupBy(
      known.filter(({ id }) => wanted.has(id)),
      letter => letter.orgRef,
    )
    return [...meant].flatMap(([ref, letters]) =>
      Array.from({ length: Math.ceil(letters.length / lettersAtOnce) }, (_, i) => ({
        ref,
        ids: letters.slice(i * lettersAtOnce, (i + 1) * lettersAtOnce).map(({ id }) => id),
      })),
    )
  }

  private auditOf(action: string, subject: string, actor: Actor): () => OperationAudit {
    return () => ({ at: this.clock.now(), actor, action, subject, note: null })
  }
}
