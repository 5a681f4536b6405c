import type { Database } from 'bun:sqlite'
import { least, mergeRuns, personOfRun, type RunState, versionAt } from '../../../core/run/run.ts'
import type { HistoryOf } from '../projections/facts.ts'
import { RunOwners } from './run-owners.ts'
import { isSame, ownRun, ownStateOf, type StoredRun } from './stored-run.ts'
import type { TouchedPeople } from './touched-people.ts'

/** Whatever keeps something that is made of runs. */
export interface RunChanges {
  /** To be called when a run has changed that starts at a moment, or started there before the change. */
  touch(orgRow: number, flowRow: number, at: number): void
  /** Whether anything is made of a flow's runs. */
  has(orgRow: number, flowRow: number): boolean
}

const columns = `id, org_id, flow_id, run_key, person, least_user_id, least_anonymous_id, started_at,
  last_at, named_version, version, completed_at, dismissed_at, steps, own_started_at,
  own_completed_at, loose_version, traits, answers`

const ofPerson = 'org_id = ? and flow_id = ? and person = ?'

/** Whose a run is, and the least of the ids that its events name. */
type NamesInRun = Pick<StoredRun, 'person' | 'least_user_id' | 'least_anonymous_id'>

/** For use where nothing is made of runs. */
export const toNobody: RunChanges = { touch() {}, has: () => false }

function statements(database: Database) {
  return {
    run: database.query<StoredRun, [number, string, number]>(
      `select ${columns} from runs where flow_id = ? and run_key = ? and org_id = ?`,
    ),
    insertRun: database.query(
      `insert into runs (org_id, flow_id, run_key, person, least_user_id, least_anonymous_id,
        started_at, last_at, named_version, version, completed_at, dismissed_at, steps,
        own_started_at, own_completed_at, traits)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    // Without the columns that most updates leave as they are: SQLite would write their index anew all the same.
    updateRun: database.query(
      `update runs set least_user_id = ?, least_anonymous_id = ?, last_at = ?, named_version = ?,
        version = ?, completed_at = ?, dismissed_at = ?, steps = ?, own_completed_at = ?,
        traits = ?
      where id = ? and org_id = ?`,
    ),
    moveStart: database.query(
      `update runs set started_at = ?, last_at = ?, version = ?, own_started_at = ?,
        loose_version = ?
      where id = ? and org_id = ?`,
    ),
    // A statement of its own, because few runs have any answers.
    setAnswers: database.query('update runs set answers = ? where id = ? and org_id = ?'),
    assign: database.query(
      `update runs set completed_at = ?, loose_version = ?, version = ?
      where id = ? and org_id = ?`,
    ),
    byChecklist: database.query<{ at: number | null }, [number, number, string]>(
      `select min(at) as at from checklist_completions
      where org_id = ? and flow_id = ? and run_key = ? and run_key <> ''`,
    ),
    deleteRun: database.query('delete from runs where id = ? and org_id = ?'),
    startsOf: database.query<{ started_at: number }, [number, number, string]>(
      `select started_at from runs where ${ofPerson}`,
    ),
    firstStart: database.query<{ at: number | null }, [number, number, string, string]>(
      `select min(started_at) as at from runs where ${ofPerson} and run_key <> ?`,
    ),
    lastAt: database.query<StoredRun, [number, number, string, number]>(
      `select ${columns} from runs where ${ofPerson} and started_at = ?
      order by run_key desc limit 1`,
    ),
    changedByUnattributedAt: database.query<StoredRun, [number, number, string, number]>(
      `select ${columns} from runs
      where ${ofPerson} and started_at = ? and (completed_at is not own_completed_at or loose_version is not null)`,
    ),
    runBefore: database.query<StoredRun, [number, number, string, number]>(
      `select ${columns} from runs where ${ofPerson} and started_at < ?
      order by started_at desc, run_key desc limit 1`,
    ),
    nextStart: database.query<
      { started_at: number },
      [number, number, string, number, number, string]
    >(
      `select started_at from runs
      where ${ofPerson} and started_at >= ? and (started_at > ? or run_key > ?)
      order by started_at limit 1`,
    ),
  }
}

/** The rows of runs. Every verb works within a transaction: that of the events, or of what follows from them. */
export class RunTable {
  private readonly sql: ReturnType<typeof statements>
  private readonly owners: RunOwners

  constructor(
    database: Database,
    private readonly historyOf: HistoryOf,
    private readonly changes: RunChanges,
  ) {
    this.sql = statements(database)
    this.owners = new RunOwners(database)
  }

  get(orgRow: number, flowRow: number, key: string): StoredRun | null {
    return this.sql.run.get(flowRow, key, orgRow)
  }

  /**
   * Joins the state of newly stored events into their run.
   *
   * @returns whose run it was before, and the least ids in it; if it is new, those that it has now
   */
  join(
    orgRow: number,
    flowRow: number,
    key: string,
    state: RunState,
    touched: TouchedPeople,
  ): NamesInRun {
    const stored = this.get(orgRow, flowRow, key)
    if (!stored) {
      const person = this.insertOwn(orgRow, flowRow, key, state, touched)
      const { leastUserId, leastAnonymousId } = state
      return { person, least_user_id: leastUserId, least_anonymous_id: leastAnonymousId }
    }
    // A run that only unattributed events opened has no state of its own yet.
    const joined = stored.own_started_at === null ? state : mergeRuns(state, ownStateOf(stored))
    const isSettled = personOfRun(joined) === stored.person
    const person = isSettled
      ? stored.person
      : this.owners.of(orgRow, flowRow, key, joined, personOfRun(state))
    if (person !== stored.person) {
      // The run is written anew, because what was assigned to it was the other person's.
      this.delete(stored)
      touched.touch(orgRow, flowRow, stored.person, stored.started_at)
      this.insertOwn(orgRow, flowRow, key, joined, touched, this.completedByChecklist(stored))
      return stored
    }
    const isMoved = joined.startedAt !== stored.own_started_at
    const startedAt = isMoved ? joined.startedAt : stored.started_at
    const unattributedVersion = isMoved ? null : stored.loose_version
    const assignedAt = isMoved ? this.completedByChecklist(stored) : stored.completed_at
    const named = least(joined.namedVersion, unattributedVersion)
    const updated: StoredRun = {
      ...ownRun(stored, joined, this.versionOf(orgRow, flowRow, named, startedAt)),
      started_at: startedAt,
      completed_at: least(joined.completedAt, assignedAt),
      loose_version: unattributedVersion,
    }
    this.update(stored, updated)
    if (isMoved) {
      touched.touch(orgRow, flowRow, stored.person, stored.started_at)
      touched.touch(orgRow, flowRow, stored.person, startedAt)
    }
    return stored
  }

  /** When a checklist's ticks first completed a run. */
  completedByChecklist({ org_id, flow_id, run_key }: StoredRun): number | null {
    return this.sql.byChecklist.get(org_id, flow_id, run_key)?.at ?? null
  }

  /** Opens a person's own run for an unattributed event alone: it has no state of its own. */
  open(orgRow: number, flowRow: number, key: string, person: string, at: number): void {
    const isUser = person.startsWith('u')
    const state: RunState = {
      leastUserId: isUser ? person.slice(1) : null,
      leastAnonymousId: isUser ? null : person.slice(1),
      startedAt: at,
      lastAt: at,
      namedVersion: null,
      completedAt: null,
      dismissedAt: null,
      traits: null,
      steps: [],
      answers: [],
    }
    this.insert(orgRow, flowRow, key, person, state, null, null)
  }

  /** Moves the start of a person's own run to where unattributed events say. */
  moveStart(run: StoredRun, start: number): void {
    this.touch(run, start)
    this.sql.moveStart.run(
      start,
      run.own_started_at === null ? start : run.last_at,
      this.versionOf(run.org_id, run.flow_id, least(run.named_version, run.loose_version), start),
      run.own_started_at,
      run.loose_version,
      run.id,
      run.org_id,
    )
  }

  delete(run: StoredRun): void {
    this.touch(run)
    this.sql.deleteRun.run(run.id, run.org_id)
  }

  /** Sets when a run was completed, by itself or otherwise, and which version unattributed events name. */
  assign(run: StoredRun, completedAt: number | null, unattributedVersion: number | null): void {
    if (completedAt === run.completed_at && unattributedVersion === run.loose_version) return
    this.touch(run)
    const named = least(run.named_version, unattributedVersion)
    const version = this.versionOf(run.org_id, run.flow_id, named, run.started_at)
    this.sql.assign.run(completedAt, unattributedVersion, version, run.id, run.org_id)
  }

  /** When a person's first run started, leaving out the run of a given key; null if there is none. */
  firstStart(orgRow: number, flowRow: number, person: string, except: string): number | null {
    return this.sql.firstStart.get(orgRow, flowRow, person, except)?.at ?? null
  }

  /**
   * Those of a person's runs starting at a moment that an unattributed event can concern: the last
   * by key, and one that was the last before.
   */
  runsAt(orgRow: number, flowRow: number, person: string, at: number): StoredRun[] {
    const last = this.sql.lastAt.all(orgRow, flowRow, person, at)
    const before = this.sql.changedByUnattributedAt.all(orgRow, flowRow, person, at)
    return [...last, ...before]
  }

  /** A person's latest run that started before a moment; of equal starts the greatest key. */
  runBefore(orgRow: number, flowRow: number, person: string, at: number): StoredRun | null {
    return this.sql.runBefore.get(orgRow, flowRow, person, at)
  }

  /** A person's latest run that had started by a moment; of equal starts the greatest key. */
  latestAt(orgRow: number, flowRow: number, person: string, at: number): StoredRun | null {
    return this.runBefore(orgRow, flowRow, person, at + 1)
  }

  /** When a person's next run starts, in the order of starts and then keys; null for the last. */
  nextStart(orgRow: number, flowRow: number, run: StoredRun): number | null {
    const { person, started_at: start, run_key: key } = run
    return this.sql.nextStart.get(orgRow, flowRow, person, start, start, key)?.started_at ?? null
  }

  /** When each of a person's runs started. */
  startsOf(orgRow: number, flowRow: number, person: string): number[] {
    return this.sql.startsOf.all(orgRow, flowRow, person).map(({ started_at }) => started_at)
  }

  private insertOwn(
    orgRow: number,
    flowRow: number,
    key: string,
    state: RunState,
    touched: TouchedPeople,
    completedByChecklist: number | null = null,
  ): string {
    const person = this.owners.of(orgRow, flowRow, key, state, personOfRun(state))
    const completedAt = least(state.completedAt, completedByChecklist)
    this.insert(orgRow, flowRow, key, person, state, state.startedAt, completedAt)
    touched.touch(orgRow, flowRow, person, state.startedAt)
    return person
  }

  /** A new run; `ownStartedAt` is null if only an unattributed event opens it. */
  private insert(
    orgRow: number,
    flowRow: number,
    key: string,
    person: string,
    state: RunState,
    ownStartedAt: number | null,
    completedAt: number | null,
  ): void {
    this.changes.touch(orgRow, flowRow, state.startedAt)
    const version = this.versionOf(orgRow, flowRow, state.namedVersion, state.startedAt)
    const names = { id: 0, org_id: orgRow, flow_id: flowRow, run_key: key, person }
    const run: StoredRun = {
      ...ownRun(names, state, version),
      completed_at: completedAt,
      own_started_at: ownStartedAt,
    }
    const inserted = this.sql.insertRun.run(
      orgRow,
      flowRow,
      key,
      person,
      run.least_user_id,
      run.least_anonymous_id,
      run.started_at,
      run.last_at,
      run.named_version,
      version,
      completedAt,
      run.dismissed_at,
      run.steps,
      ownStartedAt,
      run.own_completed_at,
      run.traits,
    )
    if (run.answers !== null) this.sql.setAnswers.run(run.answers, inserted.lastInsertRowid, orgRow)
  }

  private update(before: StoredRun, now: StoredRun): void {
    const isMoved =
      now.started_at !== before.started_at || now.own_started_at !== before.own_started_at
    if (isMoved) {
      this.sql.moveStart.run(
        now.started_at,
        now.last_at,
        now.version,
        now.own_started_at,
        now.loose_version,
        now.id,
        now.org_id,
      )
    }
    if (!isMoved && isSame(before, now)) return
    this.touch(before, now.started_at)
    if (now.answers !== before.answers) {
      this.sql.setAnswers.run(now.answers, now.id, now.org_id)
    }
    this.sql.updateRun.run(
      now.least_user_id,
      now.least_anonymous_id,
      now.last_at,
      now.named_version,
      now.version,
      now.completed_at,
      now.dismissed_at,
      now.steps,
      now.own_completed_at,
      now.traits,
      now.id,
      now.org_id,
    )
  }

  /** Tells that a run changes, and maybe moves to another start. */
  private touch({ org_id, flow_id, started_at }: StoredRun, start = started_at): void {
    this.changes.touch(org_id, flow_id, started_at)
    if (start !== started_at) this.changes.touch(org_id, flow_id, start)
  }

  private versionOf(orgRow: number, flowRow: number, named: number | null, at: number): number {
    return named ?? versionAt(this.historyOf(orgRow, flowRow).versions, at)
  }
}
