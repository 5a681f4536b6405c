import type { Database } from 'bun:sqlite'
import type { LiveState } from '../../shared/live-state.ts'
import { TransactionParticipant } from '../engine/participant.ts'
import type { Caused } from '../people/caused-events.ts'
import type { LedgerFact } from './facts.ts'
import { JoinedFacts } from './joined-facts.ts'

/** Where is shown how much is behind, and whose progress has changed. */
export interface FollowerState extends Pick<LiveState, 'lag' | 'progress'> {
  /** Epoch milliseconds. */
  now: () => number
}

/** What has been waiting since a moment, epoch milliseconds. */
interface Window {
  number: number
  since: number
  facts: JoinedFacts
  caused: Caused[]
}

/**
 * What is committed and waits to be projected: the window that is being filled, and the one that was taken
 * to be projected. It tells readers how much waits.
 */
export class PendingFacts {
  private gathering: Window
  private taken: Window | null = null
  private lastDone = 0

  constructor(private readonly live: Pick<FollowerState, 'lag' | 'now'>) {
    this.gathering = this.newWindow(1)
  }

  /** How many events are in the window that is being filled. */
  get count(): number {
    return this.gathering.facts.count + this.gathering.caused.length
  }

  /** The number of the window that is being filled. */
  get number(): number {
    return this.gathering.number
  }

  /** The facts in the window that is being filled. */
  get facts(): JoinedFacts {
    return this.gathering.facts
  }

  /** Whether a window and all before it are projected. */
  isDone(number: number): boolean {
    return this.lastDone >= number
  }

  /** Takes what waits, and begins another window. */
  take(): Pick<Window, 'facts' | 'caused'> {
    this.taken = this.gathering
    this.gathering = this.newWindow(this.taken.number + 1)
    return this.taken
  }

  /** To be called once what was taken is projected. */
  done(): void {
    this.lastDone = this.taken!.number
    this.taken = null
    this.tell()
  }

  /** To be called before something of a transaction is added: if nothing waits yet, the waiting starts now. */
  begin(): void {
    if (this.count === 0) this.gathering.since = this.live.now()
  }

  addCaused(caused: Caused): void {
    this.gathering.caused.push(caused)
  }

  /** Tells how much waits, and since when. */
  tell(): void {
    const { gathering, taken } = this
    const events = this.count + (taken ? taken.facts.count + taken.caused.length : 0)
    this.live.lag.set(events, (taken ?? gathering).since)
  }

  private newWindow(number: number): Window {
    return { number, since: this.live.now(), facts: new JoinedFacts(), caused: [] }
  }
}

/** Events of a flow in a row of the ledger, and when they occurred, epoch milliseconds. */
export interface FlowSpan {
  readonly orgRow: number
  readonly flowRow: number
  readonly seq: number
  firstAt: number
  lastAt: number
}

/** What a transaction has noted, and how much of it is written in the same transaction. */
interface Mark {
  noted: number
  written: number
}

/** In the order of the table's key. */
const inOrder = (a: FlowSpan, b: FlowSpan) =>
  a.orgRow - b.orgRow || a.flowRow - b.flowRow || a.seq - b.seq

/**
 * Says which rows of the ledger hold events of a flow (`event_batch_flows`).
 *
 * The entries of a flow stand together, so a commit with events of twenty flows would write a page for each
 * of them. An answer does not wait for that: entries are written with the projections, many at a time. Whoever
 * reads a flow's events also looks through the rows that are not projected yet (see `flowRows`).
 */
export class BatchFlows extends TransactionParticipant<Mark> {
  private readonly insert
  /** Noted in the transaction under way. */
  private noted: FlowSpan[] = []
  private written = 0
  /** Committed and not written yet. */
  private waiting: FlowSpan[] = []

  constructor(database: Database) {
    super()
    // After a crash there may be entries of rows that did not count as projected yet.
    this.insert = database.query(
      `insert into event_batch_flows (org_id, flow_id, seq, first_at, last_at) values (?, ?, ?, ?, ?)
      on conflict do nothing`,
    )
  }

  /** Notes events that are in a row of the ledger. Those of one row are noted one after the other. */
  note(seq: number, facts: readonly LedgerFact[]): void {
    for (const { orgRow, flowRow, occurredAt } of facts) {
      if (flowRow !== null) this.add(seq, orgRow, flowRow, occurredAt)
    }
  }

  /** Writes what the transaction under way has noted. */
  writeOwn(): void {
    this.write(this.noted.slice(this.written))
    this.written = this.noted.length
  }

  /** Takes what is committed and not written, in the order in which it is best written. */
  take(): FlowSpan[] {
    const { waiting } = this
    this.waiting = []
    return waiting.sort(inOrder)
  }

  /** Writes entries that were taken. */
  write(spans: readonly FlowSpan[]): void {
    for (const { orgRow, flowRow, seq, firstAt, lastAt } of spans) {
      this.insert.run(orgRow, flowRow, seq, firstAt, lastAt)
    }
  }

  override savepoint(): Mark {
    return { noted: this.noted.length, written: this.written }
  }

  override rollbackTo({ noted, written }: Mark): void {
    this.noted.length = noted
    this.written = written
  }

  override rollback(): void {
    this.noted = []
    this.written = 0
  }

  override commit(): void {
    for (const span of this.noted.slice(this.written)) this.waiting.push(span)
    this.rollback()
  }

  private add(seq: number, orgRow: number, flowRow: number, at: number): void {
    const { noted } = this
    // From the end, where the row's entries are.
    for (let i = noted.length - 1; i >= this.written && noted[i]!.seq === seq; i--) {
      const span = noted[i]!
      if (span.flowRow !== flowRow) continue
      if (at < span.firstAt) span.firstAt = at
      else if (at > span.lastAt) span.lastAt = at
      return
    }
    noted.push({ orgRow, flowRow, seq, firstAt: at, lastAt: at })
  }
}
