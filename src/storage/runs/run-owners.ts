import type { Database } from 'bun:sqlite'

/**
 * Whose runs are that their names alone would give to another: somebody was erased from them. Rare, so
 * that flows without any are known in memory.
 */
export class RunOwners {
  private readonly sql
  private flows: ReadonlySet<number> = new Set()

  constructor(database: Database) {
    this.sql = {
      flows: database.query<{ flow_id: number }, []>('select distinct flow_id from run_owners'),
      owner: database.query<{ person: string }, [number, number, string]>(
        'select person from run_owners where org_id = ? and flow_id = ? and run_key = ?',
      ),
    }
    this.othersWrote()
  }

  /** Another process has written: maybe it has erased somebody. */
  othersWrote(): void {
    this.flows = new Set(this.sql.flows.all().map(({ flow_id }) => flow_id))
  }

  /** Null where a run is whose its names say. */
  of(orgRow: number, flowRow: number, key: string): string | null {
    if (!this.flows.has(flowRow)) return null
    return this.sql.owner.get(orgRow, flowRow, key)?.person ?? null
  }
}
