import type { Database } from 'bun:sqlite'
import { TransactionParticipant } from '../participant.ts'

/** How many flows are made due at once when all of them are. */
const flowsAtOnce = 100

/** A stretch of time, epoch milliseconds; `to` is exclusive. */
export interface Stretch {
  from: number
  to: number
}

export interface Segment extends Stretch {
  /** How many versions the flow had, if the segment would differ with one more; otherwise null. */
  flowVersions: number | null
}

/** A segment that is being made: it counts only if none of its runs changes until it is written. */
export interface Draft extends Stretch {
  orgRow: number
  flowRow: number
  isStale: boolean
}

interface SegmentsOfFlow {
  /** Ascending. */
  segments: Segment[]
  /** Runs that changed since it was last due. */
  changes: number
}

function statements(database: Database) {
  return {
    ofFlow: database.query<
      { from_at: number; to_at: number; flow_versions: number | null },
      [number, number]
    >(
      `select from_at, to_at, flow_versions from run_blocks
      where org_id = ? and flow_id = ? order by from_at`,
    ),
    flowsAfter: database.query<{ id: number; org_id: number }, [number]>(
      `select id, org_id from flows where id > ? order by id limit ${flowsAtOnce}`,
    ),
    delete: database.query(
      'delete from run_blocks where org_id = ? and flow_id = ? and from_at = ?',
    ),
    insert: database.query(
      `insert into run_blocks (org_id, flow_id, from_at, to_at, runs, flow_versions, columns)
      values (?, ?, ?, ?, ?, ?, ?)`,
    ),
  }
}

/** The place of the first segment that ends after a moment. */
function placeAt(segments: readonly Segment[], at: number): number {
  let low = 0
  let high = segments.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (segments[middle]!.to > at) high = middle
    else low = middle + 1
  }
  return low
}

/**
 * Knows which stretches of which flows are in segments, and which flows may have more to seal. A run that
 * changes removes its segment in the same transaction. A run that starts after all segments of its flow, as
 * those of live traffic do, costs no statement.
 */
export class ColumnSegments extends TransactionParticipant {
  private readonly sql: ReturnType<typeof statements>
  private readonly flows = new Map<number, SegmentsOfFlow>()
  /** Flows that may have something to seal, and when to look at the earliest. */
  private readonly due = new Map<number, { orgRow: number; at: number }>()
  /** All flows after this row are due too; null if none is. */
  private dueAfter: number | null = 0
  private draft: Draft | null = null

  /**
   * @param now monotonic milliseconds, so that sealing keeps its pace when the clock is set
   * @param policy how many changed runs make a flow due, and how long it is left alone even then, so that
   *   what changes together is sealed together
   */
  constructor(
    database: Database,
    private readonly now: () => number,
    private readonly policy: { changesToLook: number; pauseMs: number },
  ) {
    super()
    this.sql = statements(database)
  }

  /** Segments may be gone, and runs may have changed. */
  override externalChange(): void {
    this.rollback()
    this.dueAfter = 0
  }

  /** The segments that the transaction removed are there again. */
  override rollback(): void {
    this.flows.clear()
    if (this.draft) this.draft.isStale = true
  }

  /** To be called when a run has changed that starts at a moment, or started there before the change. */
  touch(orgRow: number, flowRow: number, at: number): void {
    const flow = this.known(orgRow, flowRow)
    if (++flow.changes === this.policy.changesToLook) this.lookLater(orgRow, flowRow)
    const { draft } = this
    if (draft?.flowRow === flowRow && at >= draft.from && at < draft.to) draft.isStale = true
    const { segments } = flow
    const place = placeAt(segments, at)
    const segment = segments[place]
    if (!segment || segment.from > at) return
    this.sql.delete.run(orgRow, flowRow, segment.from)
    segments.splice(place, 1)
    this.lookLater(orgRow, flowRow)
  }

  /** Whether runs of a flow are in segments, or will be in a moment. */
  has(orgRow: number, flowRow: number): boolean {
    const { draft } = this
    const isBeingMade = draft?.flowRow === flowRow && !draft.isStale
    return isBeingMade || this.known(orgRow, flowRow).segments.length > 0
  }

  of(orgRow: number, flowRow: number): readonly Segment[] {
    return this.known(orgRow, flowRow).segments
  }

  /** Takes a flow that may have something to seal, which is then no longer due; null if there is none now. */
  takeDue(): { orgRow: number; flowRow: number } | null {
    const now = this.now()
    for (;;) {
      for (const [flowRow, { orgRow, at }] of this.due) {
        if (at > now) continue
        this.due.delete(flowRow)
        this.known(orgRow, flowRow).changes = 0
        return { orgRow, flowRow }
      }
      if (this.dueAfter === null) return null
      const flows = this.sql.flowsAfter.all(this.dueAfter)
      for (const { id, org_id } of flows)
        this.due.set(id, { orgRow: org_id, at: Number.NEGATIVE_INFINITY })
      this.dueAfter = flows.length === flowsAtOnce ? flows.at(-1)!.id : null
    }
  }

  lookLater(orgRow: number, flowRow: number, pauseMs = this.policy.pauseMs): void {
    const at = this.now() + pauseMs
    const known = this.due.get(flowRow)
    if (!known || at < known.at) this.due.set(flowRow, { orgRow, at })
  }

  /** Ends a look at a flow. Nothing is kept in memory about a flow without segments. */
  looked(orgRow: number, flowRow: number): void {
    const { segments, changes } = this.known(orgRow, flowRow)
    if (segments.length === 0 && changes === 0) this.flows.delete(flowRow)
  }

  /** Begins a segment: from now on a change of its runs is noticed. */
  begin(orgRow: number, flowRow: number, { from, to }: Stretch): Draft {
    this.draft = { orgRow, flowRow, from, to, isStale: false }
    return this.draft
  }

  /** Writes a segment in place of any that overlap it, within a transaction, unless one of its runs has changed. */
  write(
    draft: Draft,
    segment: { runs: number; flowVersions: number | null; columns: Uint8Array },
  ): void {
    const { orgRow, flowRow, from, to } = draft
    this.draft = null
    if (draft.isStale) {
      this.lookLater(orgRow, flowRow)
      return
    }
    const { runs, flowVersions, columns } = segment
    const { segments } = this.known(orgRow, flowRow)
    const place = placeAt(segments, from)
    const overlapping = segments.slice(place).filter(other => other.from < to)
    for (const other of overlapping) this.sql.delete.run(orgRow, flowRow, other.from)
    this.sql.insert.run(orgRow, flowRow, from, to, runs, flowVersions, columns)
    segments.splice(place, overlapping.length, { from, to, flowVersions })
  }

  private known(orgRow: number, flowRow: number): SegmentsOfFlow {
    const known = this.flows.get(flowRow)
    if (known) return known
    const segments = this.sql.ofFlow
      .all(orgRow, flowRow)
      .map(row => ({ from: row.from_at, to: row.to_at, flowVersions: row.flow_versions }))
    const flow = { segments, changes: 0 }
    this.flows.set(flowRow, flow)
    return flow
  }
}
