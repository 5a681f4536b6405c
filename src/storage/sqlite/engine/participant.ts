/**
 * What a part of storage has in memory of the transaction under way, beside what the database has. All such parts
 * are in one list: a forgotten call would let memory and database diverge without anybody noticing. What is
 * committed is read from the tables, and is not kept.
 *
 * A transaction ends with either `commit` or `rollback`. Within it there are any number of savepoints, each of
 * which may be rolled back to, the latest first.
 */
export abstract class TransactionParticipant<Mark = unknown> {
  /** A savepoint begins. Returns what `rollbackTo` needs to come back to this moment. */
  savepoint(): Mark {
    return undefined as Mark
  }

  /** The database rolls back everything since a savepoint. */
  rollbackTo(_mark: Mark): void {
    this.rollback()
  }

  /** The transaction is committed, so that what it has noted is true. Must not fail. */
  commit(): void {}

  /** The database rolls back the whole transaction. */
  rollback(): void {}
}

/** Several participants as one, in the order in which they are listed. */
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

  override commit(): void {
    for (const part of this.parts) part.commit()
  }

  override rollback(): void {
    for (const part of this.parts) part.rollback()
  }
}
