import type { Database } from 'bun:sqlite'
import { least, ownRunKey } from '../../../core/run/run.ts'
import { TransactionParticipant } from '../engine/participant.ts'
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
    hasAny: database.query<{ found: number }, [number, number]>(
      `select 1 as found from loose_facts where org_id = ?1 and flow_id = ?2
      union all
      select 1 from runs where org_id = ?1 and flow_id = ?2 and has_loose = 1
      limit 1`,
    ),
    has: database.query<{ found: number }, [number, number, string]>(
      `select 1 as found from loose_facts where org_id = ?1 and flow_id = ?2 and person = ?3
      union all
      select 1 from runs where org_id = ?1 and flow_id = ?2 and person = ?3 and has_loose = 1
      limit 1`,
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
 *
 * All runs of a person who has or had such an event are marked, so that they can be read in their order.
 */
export class UnattributedEvents extends TransactionParticipant {
  private readonly sql: ReturnType<typeof statements>
  /** Flows that have no such event and never had one, so that nobody in them has to be looked up. */
  private readonly flowsWithout = new Set<number>()

  constructor(
    database: Database,
    private readonly runs: RunTable,
  ) {
    super()
    this.sql = statements(database)
  }

  override rollback(): void {
    this.externalChange()
  }

  /** A flow that had none may have some now. */
  override externalChange(): void {
    this.flowsWithout.clear()
  }

  add(
    orgRow: number,
    flowRow: number,
    person: string,
    fact: { at: number; completes: boolean; version: number | null },
  ): void {
    const { at, completes, version } = fact
    this.order(orgRow, flowRow, person)
    this.sql.insert.run(orgRow, flowRow, person, at, Number(completes), version)
  }

  /** Marks a person's runs, so that they can be read in their order. */
  order(orgRow: number, flowRow: number, person: string): void {
    if (!this.has(orgRow, flowRow, person)) this.runs.markAll(orgRow, flowRow, person)
    this.flowsWithout.delete(flowRow)
  }

  /** Whether a person's completion without a run is stored for a given moment. */
  hasCompletion(orgRow: number, flowRow: number, person: string, at: number): boolean {
    return this.sql.hasCompletion.get(orgRow, flowRow, person, at) !== null
  }

  /** Assigns a person's unattributed events anew around the moments that have changed. */
  assign({ orgRow, flowRow, person, moments, newRuns }: Touched): void {
    if (!this.has(orgRow, flowRow, person)) return
    for (const row of newRuns) this.runs.mark(orgRow, flowRow, person, row)
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
    if (this.flowsWithout.has(flowRow)) return false
    if (this.sql.has.get(orgRow, flowRow, person)) return true
    if (!this.sql.hasAny.get(orgRow, flowRow)) this.flowsWithout.add(flowRow)
    return false
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
