import type { Database } from 'bun:sqlite'
import type { RunChanges } from '../../runs/run-table.ts'

/** A block that is being made. It is written only if none of its runs changes until then. */
export interface Draft {
  orgRow: number
  flowRow: number
  /** Epoch milliseconds; `to` is exclusive. */
  from: number
  to: number
  isStale: boolean
  /** Another number means that another connection has written. */
  dataVersion: number
}

function statements(database: Database) {
  return {
    ends: database.query<{ flow_id: number; to_at: number }, []>(
      'select flow_id, max(to_at) as to_at from run_blocks group by org_id, flow_id',
    ),
    // Blocks do not overlap, so only the last one that starts by then can cover a moment.
    deleteAt: database.query(
      `delete from run_blocks where to_at > ?4 and id = (
        select id from run_blocks where org_id = ?1 and flow_id = ?2 and from_at <= ?3
        order by from_at desc limit 1
      )`,
    ),
    deleteWithin: database.query(
      'delete from run_blocks where org_id = ? and flow_id = ? and from_at >= ? and from_at < ?',
    ),
    insert: database.query(
      `insert into run_blocks (org_id, flow_id, from_at, to_at, flow_versions, columns)
      values (?, ?, ?, ?, ?, ?)`,
    ),
    dataVersion: database.query<{ data_version: number }, []>('pragma data_version'),
  }
}

/**
 * Deletes the block of a run that changes, in the same transaction.
 *
 * What it remembers may only be too much, so a rollback or another process cannot make it wrong: the ends
 * never decrease, and only this object's connection adds blocks.
 */
export class RunBlocks implements RunChanges {
  /** Flows with runs that changed since they were last looked at: row of the flow, then of the organisation. */
  readonly changed = new Map<number, number>()
  private readonly sql: ReturnType<typeof statements>
  /** No block of a flow ends after this. Most runs that change are newer, and cost no statement. */
  private readonly ends: Map<number, number>
  private draft: Draft | null = null

  constructor(database: Database) {
    this.sql = statements(database)
    this.ends = new Map(this.sql.ends.all().map(row => [row.flow_id, row.to_at]))
  }

  touch(orgRow: number, flowRow: number, at: number): void {
    this.changed.set(flowRow, orgRow)
    const end = this.ends.get(flowRow)
    if (end === undefined || at >= end) return
    const { draft } = this
    if (draft?.flowRow === flowRow && at >= draft.from && at < draft.to) draft.isStale = true
    this.sql.deleteAt.run(orgRow, flowRow, at, at)
  }

  has(_orgRow: number, flowRow: number): boolean {
    return this.ends.has(flowRow)
  }

  get dataVersion(): number {
    return this.sql.dataVersion.get()!.data_version
  }

  /** Begins a block. From now on, changes of its runs are noticed. */
  begin(orgRow: number, flowRow: number, from: number, to: number): Draft {
    const { dataVersion } = this
    this.draft = { orgRow, flowRow, from, to, isStale: false, dataVersion }
    this.ends.set(flowRow, Math.max(to, this.ends.get(flowRow) ?? to))
    return this.draft
  }

  /** Whether a run of the block may have changed. */
  isStale({ isStale, dataVersion }: Draft): boolean {
    return isStale || dataVersion !== this.dataVersion
  }

  /**
   * Writes a block in place of those within its time, in a transaction, unless one of its runs has changed.
   *
   * @param flowVersions how many versions the flow has, if the block would differ with one more
   */
  write(draft: Draft, flowVersions: number | null, columns: Uint8Array): void {
    if (this.isStale(draft)) return
    const { orgRow, flowRow, from, to } = draft
    this.sql.deleteWithin.run(orgRow, flowRow, from, to)
    this.sql.insert.run(orgRow, flowRow, from, to, flowVersions, columns)
  }
}
