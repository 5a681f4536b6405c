/**
 * What a thread keeps in memory beside its database, and what has to say the same. Every part of storage
 * that remembers anything of what it has written is one of these, and stands in one list: a forgotten
 * call would let memory and database part without anybody noticing.
 *
 * Of each transaction comes either `beforeCommit` and then `commit`, or `rollback`; within it any number
 * of savepoints, each of which may be rolled back to, the latest first.
 */
export abstract class TransactionParticipant<Mark = unknown> {
  /** A savepoint begins: what `rollbackTo` needs to come back to this moment. */
  savepoint(): Mark {
    return undefined as Mark
  }

  /** Everything since a savepoint is taken back in the database. */
  rollbackTo(_mark: Mark): void {
    this.rollback()
  }

  /** The last thing in a transaction: writes what has to be written with it. */
  beforeCommit(): void {}

  /** The transaction is committed: what it has said is true. Must not fail. */
  commit(): void {}

  /** The whole transaction is taken back in the database. */
  rollback(): void {}

  /** Another connection has written, maybe to what is remembered here. Within a transaction, or between two. */
  externalChange(): void {}
}

/** Several as one, in the order in which they are listed. */
export class Participants extends TransactionParticipant<readonly unknown[]> {
  constructor(readonly parts: readonly TransactionParticipant[]) {
    super()
  }

  override savepoint(): readonly unknown[] {
    return this.parts.map(part => part.savepoint())
  }

  override rollbackTo(marks: readonly unknown[]): void {
    for (const [i, part] of this.parts.entries()) part.rollbackTo(marks[i])
  }

  override beforeCommit(): void {
    for (const part of this.parts) part.beforeCommit()
  }

  override commit(): void {
    for (const part of this.parts) part.commit()
  }

  override rollback(): void {
    for (const part of this.parts) part.rollback()
  }

  override externalChange(): void {
    for (const part of this.parts) part.externalChange()
  }
}
