import type { Database } from 'bun:sqlite'
import type { UnattributedEvents } from '../projections/unattributed-events.ts'
import type { PartyOf } from '../runs/run-people.ts'
import type { RunTable } from '../runs/run-table.ts'
import type { StoredRun } from '../runs/stored-run.ts'

/** A moment at which a person's tick made their list whole, and the run that it names; empty for none. */
export interface OwnPass {
  at: number
  named: string
}

interface Row extends OwnPass {
  /** The run that it completes; empty where there is none. */
  run_key: string
}

function statements(database: Database) {
  const ofPerson = 'org_id = ? and flow_id = ? and person = ?'
  return {
    of: database.query<Row, [number, number, string]>(
      `select at, named, run_key from checklist_completions where ${ofPerson}`,
    ),
    put: database.query(
      `insert into checklist_completions (org_id, flow_id, person, at, named, run_key)
      values (?, ?, ?, ?, ?, ?)
      on conflict do update set named = excluded.named, run_key = excluded.run_key`,
    ),
    delete: database.query(`delete from checklist_completions where ${ofPerson} and at = ?`),
  }
}

/** The run that started later; if both started at once, the one with the greater key, compared as bytes. */
function later(a: StoredRun | null, b: StoredRun | null): StoredRun | null {
  if (a === null || b === null) return a ?? b
  if (a.started_at !== b.started_at) return a.started_at > b.started_at ? a : b
  return Buffer.compare(Buffer.from(a.run_key), Buffer.from(b.run_key)) > 0 ? a : b
}

/**
 * Which runs the ticks of checklists complete. Each time that a list becomes whole, this is the run that
 * the last tick names, or else the latest run of the people whose ticks count together.
 */
export class ChecklistCompletions {
  private readonly sql: ReturnType<typeof statements>
  /** Runs whose completion may have changed, by flow and key. To settle more does no harm. */
  private readonly changed = new Map<string, [orgRow: number, flowRow: number, key: string]>()

  constructor(
    database: Database,
    private readonly runs: RunTable,
    private readonly unattributed: UnattributedEvents,
    private readonly partyOf: PartyOf,
  ) {
    this.sql = statements(database)
  }

  /** Sets everything that a person's ticks complete. `reassign` must follow. */
  set(orgRow: number, flowRow: number, person: string, passes: readonly OwnPass[]): void {
    const known = this.of(orgRow, flowRow, person)
    const now = new Map(passes.map(pass => [pass.at, pass]))
    for (const { at, named, run_key } of known) {
      if (now.get(at)?.named === named) {
        now.delete(at)
        continue
      }
      this.change(orgRow, flowRow, run_key)
      this.sql.delete.run(orgRow, flowRow, person, at)
    }
    for (const { at, named } of now.values()) {
      this.sql.put.run(orgRow, flowRow, person, at, named, named)
      this.change(orgRow, flowRow, named)
    }
  }

  /** Finds out again, after a person's runs changed, which runs are completed by ticks that name no run. */
  reassign(orgRow: number, flowRow: number, person: string): void {
    for (const other of this.partyOf(orgRow, flowRow, person)) {
      for (const { at, named, run_key } of this.of(orgRow, flowRow, other)) {
        if (named !== '') continue
        const key = this.latestRun(orgRow, flowRow, other, at)?.run_key ?? ''
        if (key === run_key) continue
        this.sql.put.run(orgRow, flowRow, other, at, named, key)
        this.change(orgRow, flowRow, run_key)
        this.change(orgRow, flowRow, key)
      }
    }
  }

  /** Writes the changes to the runs. Must come last, once it is known which runs they are. */
  settle(): void {
    for (const [orgRow, flowRow, key] of this.changed.values()) {
      const run = this.runs.get(orgRow, flowRow, key)
      if (run) this.unattributed.settle(run)
    }
    this.changed.clear()
  }

  private of(orgRow: number, flowRow: number, person: string): readonly Row[] {
    return this.sql.of.all(orgRow, flowRow, person)
  }

  private latestRun(orgRow: number, flowRow: number, person: string, at: number): StoredRun | null {
    let latest: StoredRun | null = null
    for (const other of this.partyOf(orgRow, flowRow, person)) {
      latest = later(latest, this.runs.latestAt(orgRow, flowRow, other, at))
    }
    return latest
  }

  private change(orgRow: number, flowRow: number, key: string): void {
    if (key !== '') this.changed.set(`${flowRow} ${key}`, [orgRow, flowRow, key])
  }
}
