/**
 * What several machines share: one log, which each of them follows with a database of its own. A server alone
 * has none.
 */

/** A place in the log. The mark is drawn anew for each group, so that another history is recognised. */
export interface Position {
  /** The number of the last batch or group of changes before it. */
  seq: number
  mark: string
  /** The latest time that anything in the log has, epoch milliseconds. It never goes back. */
  at: number
}

/** A batch of the ledger. */
export interface LogBatch {
  seq: number
  orgRow: number
  receivedAt: number
  /** How much later than the first each further part of the batch was received: milliseconds, space-separated. */
  later: string
  source: number
  codec: number
  /** How many events there are. */
  events: number
  /** JSON: which of them published flows asked for when they were stored; null if none. */
  asked: string | null
  facts: Uint8Array
  details: Uint8Array
}

/** A row of a table that all machines have, as it is now. */
export interface LogRow {
  table: string
  /** JSON array: the values of the primary key. */
  key: string
  /** JSON object; null if the row is deleted. */
  content: string | null
}

/** A part of what follows a position. */
export interface Page {
  rows: readonly LogRow[]
  batches: readonly LogBatch[]
  /** The position after it; null if more of the same follows. */
  to: Position | null
}

/** What one machine appends at once. */
export interface Group {
  /** In ascending order, numbered from the position on. */
  batches: readonly LogBatch[]
  rows: readonly LogRow[]
  to: Position
}

/** The log is not reachable, or does not take writes. Nothing was kept. */
export class LogUnavailable extends Error {
  override readonly name = 'LogUnavailable'
}

/** Whether a group was kept is not known, and nobody could be asked for long. */
export class CommitInDoubt extends Error {
  override readonly name = 'CommitInDoubt'
}

/** The log has another history than the one that a position is of, or no longer has what follows it. */
export class NotInLog extends Error {
  override readonly name = 'NotInLog'
}

/** A copy of a machine's database. */
export interface Snapshot {
  seq: number
  mark: string
  /** The schema of the database. */
  schema: number
  /** The version of Cairn that made it. */
  release: string
  /** Of the compressed copy. */
  bytes: number
  sha256: string
}

/** This machine among those that follow a log. */
export interface Member {
  /** From now on others wait for this machine when they change what management keeps. */
  join(): Promise<void>
  /**
   * All threads of this machine know the log up to a number.
   *
   * @param isChange whether somebody may wait for that
   */
  knows(seq: number, isChange: boolean): void
  /** Resolves once all others know a change of this machine, or once it is no use to wait any longer. */
  othersKnow(seq: number): Promise<void>
  leave(): Promise<void>
}

export interface Log {
  /** Identifies the log, for the databases that follow it. */
  readonly id: string
  /** The last position. Callers of one moment share a round trip. @throws LogUnavailable */
  newest(): Promise<Position>
  /** What follows a position, as of one moment. @throws NotInLog, LogUnavailable */
  since(from: Position): AsyncIterable<Page>
  /**
   * Appends a group, while nobody else appends anything.
   *
   * @param work takes up what others have appended since `from`, and returns what to append; null for nothing.
   *   Once this resolves, the group is kept. If it rejects, nothing is, except perhaps with CommitInDoubt.
   * @throws NotInLog, LogUnavailable, CommitInDoubt, and what `work` throws
   */
  append(from: Position, work: (since: AsyncIterable<Page>) => Promise<Group | null>): Promise<void>
  close(): Promise<void>
}
