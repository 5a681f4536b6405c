/**
 * State that a thread keeps in memory beside its database, and that has to agree with it. Every part of
 * storage that remembers anything of what it has written is one of these, and all are in one list: a
 * forgotten call would let memory and database diverge without anybody noticing.
 *
 * For each transaction, either `beforeCommit` and then `commit` are called, or `rollback`. Within it there
 * are any number of savepoints, each of which may be rolled back to, the latest first.
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

  /** The last call in a transaction: writes what has to be written with it. */
  beforeCommit(): void {}

  /** The transaction is committed, so that what it has noted is true. Must not fail. */
  commit(): void {}

  /** The database rolls back the whole transaction. */
  rollback(): void {}

  /** Another connection has written, maybe to what is remembered here. Called within or between transactions. */
  externalChange(): void {}
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
