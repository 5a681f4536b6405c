import type { Database } from 'bun:sqlite'
import { TransactionParticipant } from '../engine/participant.ts'
import type { LedgerFact } from '../projections/facts.ts'

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
 * reads a flow's events looks through the rows behind `projected` (see `flowRows`).
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
    // A start may find entries that were written before the rows counted as projected.
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

  /** Writes, within the transaction, what it has noted. */
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
