import { minuteMs } from '../../core/time/durations.ts'
import type { NodeList } from '../interfaces/operations.ts'

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
  /** When the last of its events was received, epoch milliseconds. */
  receivedAt: number
  source: number
  /** How many events there are. */
  events: number
  /** JSON: for which of them published flows waited when they were stored; null if none. */
  asked: string | null
  /** The events themselves, in the form of whoever stored them. */
  body: Uint8Array
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
  /** Whether it changes what management keeps, so that every machine has to know of it soon. */
  isChange?: boolean
}

/** The log is not reachable, or does not take writes. Nothing was kept. */
export class LogUnavailable extends Error {
  override readonly name = 'LogUnavailable'
}

/** How far a machine's clock may be from the log's if it is to do what depends on the time, milliseconds. */
export const maxApartMs = minuteMs

/** This machine's clock is so far from the log's that nothing of it is taken. Nothing was kept. */
export class ClockApart extends LogUnavailable {
  constructor(aheadMs: number) {
    const minutes = Math.round(Math.abs(aheadMs) / minuteMs)
    const side = aheadMs > 0 ? 'ahead of' : 'behind'
    super(`The clock of this machine is ${minutes} minutes ${side} the database's: correct it`)
  }
}

/** Whether a group was kept is not known, and the database could not be reached for long. */
export class CommitInDoubt extends Error {
  override readonly name = 'CommitInDoubt'
}

/** The log has another history than the one that a position is of, or no longer has what follows it. */
export class NotInLog extends Error {
  override readonly name = 'NotInLog'
}

/** Something is in the log already. */
export class LogInUse extends Error {
  override readonly name = 'LogInUse'
}

/** A copy of a machine's database. */
export interface NewSnapshot {
  seq: number
  mark: string
  /** The schema of the database. */
  schema: number
  /** The version of Cairn that made it. */
  release: string
  /** Epoch milliseconds. */
  madeAt: number
}

export interface Snapshot extends NewSnapshot {
  id: string
  /** Of all parts. */
  bytes: number
  sha256: string
}

/** This machine among those that follow a log. */
export interface Member {
  /** From now on others wait for this machine when they change what management keeps. */
  join(): Promise<void>
  /**
   * This machine knows the log up to a number.
   *
   * @param isChange whether somebody may wait for that
   */
  knows(seq: number, isChange: boolean): void
  /** Resolves once all others know a change of this machine, or once it is no use to wait any longer. */
  othersKnow(seq: number): Promise<void>
  /**
   * This machine has carried out all erasures and rebuilds up to a number.
   *
   * @param isWaitedFor whether there was any
   */
  hasDone(seq: number, isWaitedFor: boolean): void
  /** Resolves once all others that run have done so too. */
  othersHaveDone(seq: number): Promise<void>
  /** Takes a job that one machine does at a time, or goes on holding it for a while: false if another has it. */
  holds(job: string): Promise<boolean>
  /** Gives a job up. */
  releases(job: string): Promise<void>
  /** The machines that run, and how far each is. */
  all(): Promise<NodeList>
  /** Those that may not know the last change of this one yet, by name. */
  behind(): Promise<readonly string[]>
  leave(): Promise<void>
}

/** An event as a row of the table `events`, by the names of its columns. Times are epoch milliseconds. */
export interface TableEvent {
  readonly [column: string]: string | number | null
  /** The batch's number in the log, and the place within it. */
  readonly seq: number
  readonly place: number
  readonly org_id: string
}

/** A copy of all events as rows, for people who query them in SQL. */
export interface EventsTable {
  /**
   * Creates the table if there is none, and copies what follows what it has.
   *
   * @param read is called while nobody else writes the table
   * @returns whether there was anything
   */
  copy(read: (after: number) => { events: readonly TableEvent[]; upTo: number }): Promise<boolean>
  /** Writes batches again, as far as they are copied. @param read is called while nobody else writes the table */
  rewrite(seqs: readonly number[], read: () => readonly TableEvent[]): Promise<void>
  /** Deletes organisations' events, each up to a batch; does nothing if there is no such table. */
  retain(upTo: ReadonlyMap<string, number>): Promise<void>
  /** Whether there is such a table. */
  exists(): Promise<boolean>
}

export interface Log {
  /** Identifies the log, for the databases that follow it. */
  readonly id: string
  readonly events: EventsTable
  /** Why nothing of this machine is taken, as of the last answer; null if it is. */
  readonly clockError: ClockApart | null
  /** The latest time that is taken now, as of the last answer: log time never goes back. Epoch milliseconds. */
  readonly latest: number
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
  /** @throws NotInLog if a database at a position cannot go on from there, LogUnavailable */
  check(from: Position): Promise<void>
  /** The newest first. */
  snapshots(): Promise<Snapshot[]>
  parts(snapshot: Snapshot): AsyncIterable<Uint8Array>
  /** Stores a copy, and reads it back. */
  store(snapshot: NewSnapshot, parts: AsyncIterable<Uint8Array>): Promise<void>
  /** Deletes snapshots, and of the log what nobody needs who begins with one of the others, or runs. */
  drop(snapshots: readonly Snapshot[]): Promise<void>
  /** Writes batches again, without what was erased. */
  overwrite(batches: readonly Pick<LogBatch, 'seq' | 'body'>[]): Promise<void>
  /**
   * Notes that databases up to a number still have what was erased, and deletes what they would take up of tables
   * that name people. There has to be a snapshot after that number.
   */
  erased(seq: number, tables: readonly string[]): Promise<void>
  /**
   * Fills a log in which nothing is. What an interrupted call has left is deleted.
   *
   * @throws LogInUse
   */
  fill(to: Position, pages: AsyncIterable<Omit<Page, 'to'>>): Promise<void>
  /** Ends the log: no machine follows it from then on. @param movedTo where its data is */
  end(movedTo: string): Promise<void>
  /** Deletes organisations' batches, each up to a number, as far as no database will take them up. */
  retain(upTo: ReadonlyMap<number, number>): Promise<void>
  close(): Promise<void>
}
