import type { Database } from 'bun:sqlite'

/** How many flows are made due at once, where all are. */
const flowsAtOnce = 100

/** A stretch of time, epoch milliseconds; `to` is exclusive. */
export interface Stretch {
  from: number
  to: number
}

export interface Block extends Stretch {
  /** How many versions the flow had, where the block would be another with one more; null else. */
  flowVersions: number | null
}

/** A block that is being made: it counts only if none of its runs changes until it is written. */
export interface Draft extends Stretch {
  orgRow: number
  flowRow: number
  isStale: boolean
}

interface BlocksOfFlow {
  /** Ascending. */
  blocks: Block[]
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

/** The place of the first block that ends after a moment. */
function placeAt(blocks: readonly Block[], at: number): number {
  let low = 0
  let high = blocks.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (blocks[middle]!.to > at) high = middle
    else low = middle + 1
  }
  return low
}

/**
 * Which stretches of which flows stand in blocks, and which flows may have more to seal. A run that
 * changes takes its block away in the same transaction; one that starts after all blocks of its flow,
 * as those of live traffic do, costs no statement.
 */
export class RunBlocks {
  private readonly sql: ReturnType<typeof statements>
  private readonly flows = new Map<number, BlocksOfFlow>()
  /** Flows that may have something to seal, and not before when. */
  private readonly due = new Map<number, { orgRow: number; at: number }>()
  /** All flows after this row are due too; null where none is. */
  private dueAfter: number | null = 0
  private draft: Draft | null = null

  /**
   * @param now monotonic milliseconds: sealing goes on at its pace where the clock is set
   * @param policy how many changed runs make a flow due, and how long it is left alone even so, that
   *   what changes together is sealed together
   */
  constructor(
    database: Database,
    private readonly now: () => number,
    private readonly policy: { changesToLook: number; pauseMs: number },
  ) {
    this.sql = statements(database)
  }

  /** Another process has written: blocks may be gone, and runs may be others. */
  othersWrote(): void {
    this.forget()
    this.dueAfter = 0
  }

  /** A transaction was rolled back: the blocks that it took away are there again. */
  forget(): void {
    this.flows.clear()
    if (this.draft) this.draft.isStale = true
  }

  /** A run has changed that starts, or started before the change, at a moment. */
  touch(orgRow: number, flowRow: number, at: number): void {
    const flow = this.known(orgRow, flowRow)
    if (++flow.changes === this.policy.changesToLook) this.lookLater(orgRow, flowRow)
    const { draft } = this
    if (draft?.flowRow === flowRow && at >= draft.from && at < draft.to) draft.isStale = true
    const { blocks } = flow
    const place = placeAt(blocks, at)
    const block = blocks[place]
    if (!block || block.from > at) return
    this.sql.delete.run(orgRow, flowRow, block.from)
    blocks.splice(place, 1)
    this.lookLater(orgRow, flowRow)
  }

  /** Whether runs of a flow stand in blocks, or will in a moment. */
  has(orgRow: number, flowRow: number): boolean {
    const { draft } = this
    const isBeingMade = draft?.flowRow === flowRow && !draft.isStale
    return isBeingMade || this.known(orgRow, flowRow).blocks.length > 0
  }

  of(orgRow: number, flowRow: number): readonly Block[] {
    return this.known(orgRow, flowRow).blocks
  }

  /** A flow that may have something to seal, and is due no more; null where there is none now. */
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

  /** Nothing is kept in memory of a flow without blocks. */
  looked(orgRow: number, flowRow: number): void {
    const { blocks, changes } = this.known(orgRow, flowRow)
    if (blocks.length === 0 && changes === 0) this.flows.delete(flowRow)
  }

  /** Begins a block: from now on a change of its runs is noticed. */
  begin(orgRow: number, flowRow: number, { from, to }: Stretch): Draft {
    this.draft = { orgRow, flowRow, from, to, isStale: false }
    return this.draft
  }

  /**
   * Writes a block in place of any that overlaps it, within a transaction; not where a run of it has
   * changed.
   */
  write(
    draft: Draft,
    block: { runs: number; flowVersions: number | null; columns: Uint8Array },
  ): void {
    const { orgRow, flowRow, from, to } = draft
    this.draft = null
    if (draft.isStale) {
      this.lookLater(orgRow, flowRow)
      return
    }
    const { runs, flowVersions, columns } = block
    const { blocks } = this.known(orgRow, flowRow)
    const place = placeAt(blocks, from)
    const overlapping = blocks.slice(place).filter(other => other.from < to)
    for (const other of overlapping) this.sql.delete.run(orgRow, flowRow, other.from)
    this.sql.insert.run(orgRow, flowRow, from, to, runs, flowVersions, columns)
    blocks.splice(place, overlapping.length, { from, to, flowVersions })
  }

  private known(orgRow: number, flowRow: number): BlocksOfFlow {
    const known = this.flows.get(flowRow)
    if (known) return known
    const blocks = this.sql.ofFlow
      .all(orgRow, flowRow)
      .map(row => ({ from: row.from_at, to: row.to_at, flowVersions: row.flow_versions }))
    const flow = { blocks, changes: 0 }
    this.flows.set(flowRow, flow)
    return flow
  }
}
