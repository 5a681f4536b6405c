import type { Database } from 'bun:sqlite'
import { least, mergeRuns, personOfRun, type RunState, versionAt } from '../core/run.ts'
import type { HistoryOf } from './facts.ts'
import { packSteps, unpackSteps } from './run-rows.ts'
import type { TouchedPeople } from './touched.ts'

/** A run as it is stored: its own events' state, and what loose facts add to it. */
export interface StoredRun {
  id: number
  person: string
  least_user_id: string | null
  least_anonymous_id: string | null
  started_at: number
  last_at: number
  named_version: number | null
  completed_at: number | null
  dismissed_at: number | null
  steps: string
  own_started_at: number | null
  own_completed_at: number | null
}

/** Who keeps something that is made of runs. */
export interface RunChanges {
  /** A run has changed that starts, or started before the change, at a moment. */
  touch(orgRow: number, flowRow: number, at: number): void
  /** Whether anything is made of a flow's runs. */
  has(orgRow: number, flowRow: number): boolean
}

function statements(database: Database) {
  return {
    run: database.query<StoredRun, [number, number, string]>(
      `select id, person, least_user_id, least_anonymous_id, started_at, last_at, named_version,
        completed_at, dismissed_at, steps, own_started_at, own_completed_at
      from runs where org_id = ? and flow_id = ? and run_key = ?`,
    ),
    insertRun: database.query(
      `insert into runs (org_id, flow_id, run_key, person, least_user_id, least_anonymous_id,
        started_at, last_at, named_version, version, completed_at, dismissed_at, steps,
        own_started_at, own_completed_at)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    updateRun: database.query(
      `update runs set person = ?, least_user_id = ?, least_anonymous_id = ?, started_at = ?,
        last_at = ?, named_version = ?, version = ?, completed_at = ?, dismissed_at = ?, steps = ?,
        own_started_at = ?, own_completed_at = ?
      where org_id = ? and flow_id = ? and run_key = ?`,
    ),
    deleteRun: database.query('delete from runs where org_id = ? and flow_id = ? and run_key = ?'),
    firstStart: database.query<{ at: number | null }, [number, number, string, string]>(
      `select min(started_at) as at from runs
      where org_id = ? and flow_id = ? and person = ? and run_key <> ?`,
    ),
    lastAt: database.query<{ run_key: string }, [number, number, string, number]>(
      `select run_key from runs
      where org_id = ? and flow_id = ? and person = ? and started_at = ?
      order by run_key desc limit 1`,
    ),
    looselyCompletedAt: database.query<{ run_key: string }, [number, number, string, number]>(
      `select run_key from runs
      where org_id = ? and flow_id = ? and person = ? and started_at = ?
        and completed_at is not own_completed_at`,
    ),
    runBefore: database.query<{ run_key: string }, [number, number, string, number]>(
      `select run_key from runs
      where org_id = ? and flow_id = ? and person = ? and started_at < ?
      order by started_at desc, run_key desc limit 1`,
    ),
    nextStart: database.query<
      { started_at: number },
      [number, number, string, number, number, string]
    >(
      `select started_at from runs
      where org_id = ? and flow_id = ? and person = ? and started_at >= ?
        and (started_at > ? or run_key > ?)
      order by started_at limit 1`,
    ),
    startsOf: database.query<{ started_at: number }, [number, number, string]>(
      'select started_at from runs where org_id = ? and flow_id = ? and person = ?',
    ),
    setCompleted: database.query(
      `update runs set completed_at = ? where org_id = ? and flow_id = ? and run_key = ?`,
    ),
  }
}

/** The rows of runs. Every verb works within the transaction that stores the events. */
export class RunTable {
  private readonly sql: ReturnType<typeof statements>

  constructor(
    database: Database,
    private readonly historyOf: HistoryOf,
    private readonly changes: RunChanges,
  ) {
    this.sql = statements(database)
  }

  get(orgRow: number, flowRow: number, key: string): StoredRun | null {
    return this.sql.run.get(orgRow, flowRow, key)
  }

  /** Joins the state of newly stored events into their run. */
  join(
    orgRow: number,
    flowRow: number,
    key: string,
    state: RunState,
    touched: TouchedPeople,
  ): void {
    const stored = this.sql.run.get(orgRow, flowRow, key)
    if (!stored) {
      const person = personOfRun(state)
      this.insert(orgRow, flowRow, key, person, state, state.startedAt)
      touched.touch(orgRow, flowRow, person, state.startedAt)
      return
    }
    // A run that only loose facts opened has no state of its own yet.
    const joined =
      stored.own_started_at === null
        ? state
        : mergeRuns(state, {
            leastUserId: stored.least_user_id,
            leastAnonymousId: stored.least_anonymous_id,
            startedAt: stored.own_started_at,
            lastAt: stored.last_at,
            namedVersion: stored.named_version,
            completedAt: stored.own_completed_at,
            dismissedAt: stored.dismissed_at,
            steps: unpackSteps(stored.steps),
          })
    const person = personOfRun(joined)
    const moved = person !== stored.person || joined.startedAt !== stored.own_started_at
    const startedAt = moved ? joined.startedAt : stored.started_at
    const completedAt = moved ? joined.completedAt : least(joined.completedAt, stored.completed_at)
    this.sql.updateRun.run(
      person,
      joined.leastUserId,
      joined.leastAnonymousId,
      startedAt,
      joined.lastAt,
      joined.namedVersion,
      this.versionOf(orgRow, flowRow, joined.namedVersion, startedAt),
      completedAt,
      joined.dismissedAt,
      packSteps(joined.steps),
      joined.startedAt,
      joined.completedAt,
      orgRow,
      flowRow,
      key,
    )
    this.changes.touch(orgRow, flowRow, stored.started_at)
    if (startedAt !== stored.started_at) this.changes.touch(orgRow, flowRow, startedAt)
    if (!moved) return
    touched.touch(orgRow, flowRow, stored.person, stored.started_at)
    touched.touch(orgRow, flowRow, person, startedAt)
  }

  /** A new run; `ownStartedAt` is null where only a loose fact opens it. */
  insert(
    orgRow: number,
    flowRow: number,
    key: string,
    person: string,
    state: RunState,
    ownStartedAt: number | null,
  ): void {
    this.changes.touch(orgRow, flowRow, state.startedAt)
    this.sql.insertRun.run(
      orgRow,
      flowRow,
      key,
      person,
      state.leastUserId,
      state.leastAnonymousId,
      state.startedAt,
      state.lastAt,
      state.namedVersion,
      this.versionOf(orgRow, flowRow, state.namedVersion, state.startedAt),
      state.completedAt,
      state.dismissedAt,
      packSteps(state.steps),
      ownStartedAt,
      state.completedAt,
    )
  }

  /** Moves the start of a person's own run to where loose facts say. */
  moveStart(orgRow: number, flowRow: number, key: string, run: StoredRun, start: number): void {
    this.changes.touch(orgRow, flowRow, run.started_at)
    this.changes.touch(orgRow, flowRow, start)
    this.sql.updateRun.run(
      run.person,
      run.least_user_id,
      run.least_anonymous_id,
      start,
      run.own_started_at === null ? start : run.last_at,
      run.named_version,
      this.versionOf(orgRow, flowRow, run.named_version, start),
      run.completed_at,
      run.dismissed_at,
      run.steps,
      run.own_started_at,
      run.own_completed_at,
      orgRow,
      flowRow,
      key,
    )
  }

  delete(orgRow: number, flowRow: number, key: string, run: StoredRun): void {
    this.changes.touch(orgRow, flowRow, run.started_at)
    this.sql.deleteRun.run(orgRow, flowRow, key)
  }

  /** When a person's first run started, leaving out the one of a key; null where there is none. */
  firstStart(orgRow: number, flowRow: number, person: string, except: string): number | null {
    return this.sql.firstStart.get(orgRow, flowRow, person, except)?.at ?? null
  }

  /**
   * Of a person's runs that start at a moment, those that a loose completion can concern: the last
   * by key, and one that was the last before.
   */
  keysAt(orgRow: number, flowRow: number, person: string, at: number): string[] {
    const last = this.sql.lastAt.all(orgRow, flowRow, person, at)
    const before = this.sql.looselyCompletedAt.all(orgRow, flowRow, person, at)
    return [...last, ...before].map(({ run_key }) => run_key)
  }

  /** Key of a person's latest run that started before a moment; of equal starts the greatest key. */
  keyBefore(orgRow: number, flowRow: number, person: string, at: number): string | null {
    return this.sql.runBefore.get(orgRow, flowRow, person, at)?.run_key ?? null
  }

  /** When the run after this one starts, in the order of starts and then keys; null for the last. */
  nextStart(orgRow: number, flowRow: number, key: string, run: StoredRun): number | null {
    const { person, started_at: start } = run
    return this.sql.nextStart.get(orgRow, flowRow, person, start, start, key)?.started_at ?? null
  }

  /** When each of a person's runs started. */
  startsOf(orgRow: number, flowRow: number, person: string): number[] {
    return this.sql.startsOf.all(orgRow, flowRow, person).map(({ started_at }) => started_at)
  }

  /** Says when a run was completed, by itself or by a loose fact. */
  setCompleted(
    orgRow: number,
    flowRow: number,
    key: string,
    run: StoredRun,
    at: number | null,
  ): void {
    this.changes.touch(orgRow, flowRow, run.started_at)
    this.sql.setCompleted.run(at, orgRow, flowRow, key)
  }

  private versionOf(orgRow: number, flowRow: number, named: number | null, at: number): number {
    return named ?? versionAt(this.historyOf(orgRow, flowRow).versions, at)
  }
}
