import type { Database } from 'bun:sqlite'
import { least, ownRunKey } from '../../../core/run/run.ts'
import type { RunTable } from '../runs/run-table.ts'
import type { StoredRun } from '../runs/stored-run.ts'
import type { Touched } from '../runs/touched-people.ts'

interface Assigned {
  completed_at: number | null
  version: number | null
}

function statements(database: Database) {
  return {
    insert: database.query(
      `insert into loose_facts (org_id, flow_id, person, at, completes, version)
      values (?, ?, ?, ?, ?, ?)
      on conflict do update set version =
        min(coalesce(version, excluded.version), coalesce(excluded.version, version))`,
    ),
    has: database.query<{ found: number }, [number, number, string]>(
      'select 1 as found from loose_facts where org_id = ? and flow_id = ? and person = ? limit 1',
    ),
    hasCompletion: database.query<{ found: number }, [number, number, string, number]>(
      `select 1 as found from loose_facts
      where org_id = ? and flow_id = ? and person = ? and at = ? and completes = 1`,
    ),
    first: database.query<{ at: number | null }, [number, number, string]>(
      'select min(at) as at from loose_facts where org_id = ? and flow_id = ? and person = ?',
    ),
    assigned: database.query<Assigned, [number, number, string, number, number]>(
      `select min(iif(completes = 1, at, null)) as completed_at, min(version) as version
      from loose_facts where org_id = ? and flow_id = ? and person = ? and at >= ? and at < ?`,
    ),
  }
}

const forever = Number.MAX_SAFE_INTEGER

/**
 * Completions and ticks without run or session, kept beside the runs and assigned to them by time: a run
 * gets those between its start and the start of the person's next run, so a change of one run's start
 * touches only its neighbours.
 */
export class UnattributedEvents {
  private readonly sql: ReturnType<typeof statements>

  constructor(
    database: Database,
    private readonly runs: RunTable,
  ) {
    this.sql = statements(database)
  }

  add(
    orgRow: number,
    flowRow: number,
    person: string,
    fact: { at: number; completes: boolean; version: number | null },
  ): void {
    const { at, completes, version } = fact
    this.sql.insert.run(orgRow, flowRow, person, at, Number(completes), version)
  }

  /** Whether a person's completion without a run is stored for a given moment. */
  hasCompletion(orgRow: number, flowRow: number, person: string, at: number): boolean {
    return this.sql.hasCompletion.get(orgRow, flowRow, person, at) !== null
  }

  /** Assigns a person's unattributed events anew around the moments that have changed. */
  assign({ orgRow, flowRow, person, moments }: Touched): void {
    if (!this.has(orgRow, flowRow, person)) return
    this.openOwnRun(orgRow, flowRow, person, moments)
    const runs = new Map<number, StoredRun>()
    for (const moment of moments) {
      // Of runs with equal starts the greatest key comes last, and a new run may have taken that place. The
      // run before the moment has a new end.
      for (const run of this.runs.runsAt(orgRow, flowRow, person, moment)) runs.set(run.id, run)
      const before = this.runs.runBefore(orgRow, flowRow, person, moment)
      if (before) runs.set(before.id, before)
    }
    for (const run of runs.values()) this.settle(run)
  }

  /** Writes to a run what its own events, unattributed events and the checklist's ticks say together. */
  settle(run: StoredRun): void {
    const { org_id: orgRow, flow_id: flowRow, person, started_at: start } = run
    let assigned: Assigned = { completed_at: null, version: null }
    if (this.has(orgRow, flowRow, person)) {
      const end = this.runs.nextStart(orgRow, flowRow, run) ?? forever
      assigned = this.sql.assigned.get(orgRow, flowRow, person, start, end)!
    }
    const assignedAt = least(assigned.completed_at, this.runs.completedByChecklist(run))
    this.runs.assign(run, least(run.own_completed_at, assignedAt), assigned.version)
  }

  private has(orgRow: number, flowRow: number, person: string): boolean {
    return this.sql.has.get(orgRow, flowRow, person) !== null
  }

  /**
   * A person's first unattributed event opens their own run (or moves its start back) if no run of theirs
   * had started by then. If such a run turns up later, the own run is removed again.
   */
  private openOwnRun(orgRow: number, flowRow: number, person: string, moments: Set<number>): void {
    const opening = this.sql.first.get(orgRow, flowRow, person)?.at ?? null
    const key = ownRunKey(person)
    const run = this.runs.get(orgRow, flowRow, key)
    const ownStart = run?.own_started_at ?? null
    const otherStart = this.runs.firstStart(orgRow, flowRow, person, key)
    const firstStart = least(ownStart, otherStart)
    const opens = opening !== null && (firstStart === null || opening < firstStart)
    const start = opens ? opening : ownStart
    if (start === (run?.started_at ?? null)) return
    if (run) moments.add(run.started_at)
    if (start === null) {
      if (run) this.runs.delete(run)
      return
    }
    moments.add(start)
    if (run) this.runs.moveStart(run, start)
    else this.runs.open(orgRow, flowRow, key, person, start)
  }
}
