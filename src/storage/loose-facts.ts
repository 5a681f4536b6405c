import type { Database } from 'bun:sqlite'
import { least, ownRunKey, type RunState } from '../core/run.ts'
import type { RunTable } from './run-table.ts'
import type { Touched } from './touched.ts'

function statements(database: Database) {
  return {
    insert: database.query(
      `insert into loose_facts (org_id, flow_id, person, at, opens, completes)
      values (?, ?, ?, ?, ?, ?) on conflict do nothing`,
    ),
    deleteByChecklist: database.query(
      `delete from loose_facts where org_id = ? and flow_id = ? and person = ? and at = ?
        and opens = 0 and completes = 1`,
    ),
    hasAny: database.query<{ found: number }, [number, number]>(
      'select 1 as found from loose_facts where org_id = ? and flow_id = ? limit 1',
    ),
    has: database.query<{ found: number }, [number, number, string]>(
      `select 1 as found from loose_facts where org_id = ? and flow_id = ? and person = ? limit 1`,
    ),
    hasCompletion: database.query<{ found: number }, [number, number, string, number]>(
      `select 1 as found from loose_facts
      where org_id = ? and flow_id = ? and person = ? and at = ? and opens = 1 and completes = 1`,
    ),
    firstOpening: database.query<{ at: number | null }, [number, number, string]>(
      `select min(at) as at from loose_facts
      where org_id = ? and flow_id = ? and person = ? and opens = 1`,
    ),
    firstCompletion: database.query<
      { at: number | null },
      [number, number, string, number, number]
    >(
      `select min(at) as at from loose_facts
      where org_id = ? and flow_id = ? and person = ? and completes = 1 and at >= ? and at < ?`,
    ),
  }
}

const forever = Number.MAX_SAFE_INTEGER

/**
 * Completions and ticks without run or session, kept beside the runs and assigned to them by time:
 * a run gets the first loose completion between its start and the start of the person's next run,
 * so a change of one run's start touches only its neighbours.
 */
export class LooseFacts {
  private readonly sql: ReturnType<typeof statements>
  /** Flows that have none at all, so that nobody in them need be looked for. */
  private readonly flowsWithout = new Set<number>()

  constructor(
    database: Database,
    private readonly runs: RunTable,
  ) {
    this.sql = statements(database)
  }

  /** Another process (a rebuild) has written: a flow that had none may have some. */
  othersWrote(): void {
    this.flowsWithout.clear()
  }

  /** @param opens whether it makes a run for a person who has none by then */
  add(
    orgRow: number,
    flowRow: number,
    person: string,
    fact: { at: number; opens: boolean; completes: boolean },
  ): void {
    const { at, opens, completes } = fact
    this.flowsWithout.delete(flowRow)
    this.sql.insert.run(orgRow, flowRow, person, at, Number(opens), Number(completes))
  }

  /** Whether a person's completion without a run is stored for a moment. */
  hasCompletion(orgRow: number, flowRow: number, person: string, at: number): boolean {
    return this.sql.hasCompletion.get(orgRow, flowRow, person, at) !== null
  }

  /** Takes the completion by a checklist away, when the ticks say another moment. */
  removeChecklistCompletion(orgRow: number, flowRow: number, person: string, at: number): void {
    this.sql.deleteByChecklist.run(orgRow, flowRow, person, at)
  }

  /** Assigns a person's loose facts anew around the moments that have changed. */
  assign({ orgRow, flowRow, person, moments, hadLoose }: Touched): void {
    if (!hadLoose && !this.has(orgRow, flowRow, person)) return
    this.openOwnRun(orgRow, flowRow, person, moments)
    const keys = new Set<string>()
    for (const moment of moments) {
      // Of equal starts the greatest key comes last, and a new one may have taken that place. The
      // run before the moment has a new end.
      for (const key of this.runs.keysAt(orgRow, flowRow, person, moment)) keys.add(key)
      const before = this.runs.keyBefore(orgRow, flowRow, person, moment)
      if (before !== null) keys.add(before)
    }
    for (const key of keys) {
      const run = this.runs.get(orgRow, flowRow, key)
      if (!run) continue
      const end = this.runs.nextStart(orgRow, flowRow, key, run) ?? forever
      const loose = this.sql.firstCompletion.get(orgRow, flowRow, person, run.started_at, end)
      const completedAt = least(run.own_completed_at, loose?.at ?? null)
      if (completedAt !== run.completed_at) {
        this.runs.setCompleted(orgRow, flowRow, key, run, completedAt)
      }
    }
  }

  private has(orgRow: number, flowRow: number, person: string): boolean {
    if (this.flowsWithout.has(flowRow)) return false
    if (this.sql.has.get(orgRow, flowRow, person)) return true
    if (!this.sql.hasAny.get(orgRow, flowRow)) this.flowsWithout.add(flowRow)
    return false
  }

  /**
   * A person's first loose fact makes their own run (or moves its start back) when no run of
   * theirs had started by then, and unmakes it when one turns up.
   */
  private openOwnRun(orgRow: number, flowRow: number, person: string, moments: Set<number>): void {
    const key = ownRunKey(person)
    const run = this.runs.get(orgRow, flowRow, key)
    const ownStart = run?.own_started_at ?? null
    const otherStart = this.runs.firstStart(orgRow, flowRow, person, key)
    const opening = this.sql.firstOpening.get(orgRow, flowRow, person)?.at ?? null
    const firstStart = least(ownStart, otherStart)
    const opens = opening !== null && (firstStart === null || opening < firstStart)
    const start = opens ? opening : ownStart
    if (start === (run?.started_at ?? null)) return
    if (run) moments.add(run.started_at)
    if (start === null) {
      if (run) this.runs.delete(orgRow, flowRow, key, run)
      return
    }
    moments.add(start)
    if (!run) {
      const isUser = person.startsWith('u')
      const state: RunState = {
        leastUserId: isUser ? person.slice(1) : null,
        leastAnonymousId: isUser ? null : person.slice(1),
        startedAt: start,
        lastAt: start,
        namedVersion: null,
        completedAt: null,
        dismissedAt: null,
        steps: [],
      }
      this.runs.insert(orgRow, flowRow, key, person, state, null)
      return
    }
    this.runs.moveStart(orgRow, flowRow, key, run, start)
  }
}
