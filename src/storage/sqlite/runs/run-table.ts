import type { Database } from 'bun:sqlite'
import { least, mergeRuns, personOfRun, type RunState, versionAt } from '../../../core/run/run.ts'
import type { HistoryOf } from '../projections/facts.ts'
import { RunOwners } from './run-owners.ts'
import { ownRun, ownStateOf, type StoredRun } from './stored-run.ts'
import type { TouchedPeople } from './touched-people.ts'

/** Whatever keeps something that is made of runs. */
export interface RunChanges {
  /** To be called when a run has changed that starts at a moment, or started there before the change. */
  touch(orgRow: number, flowRow: number, at: number): void
  /** Whether anything is made of a flow's runs. */
  has(orgRow: number, flowRow: number): boolean
}

const names = ['org_id', 'flow_id', 'run_key', 'person'] as const

/** What stands in an index: SQLite writes that anew whenever a statement sets one of these. */
const start = ['started_at', 'answers'] as const
const outcome = ['completed_at', 'dismissed_at'] as const
const indexed = [...start, ...outcome] as const

const state = [
  ...(['least_user_id', 'least_anonymous_id', 'last_at', 'named_version', 'version'] as const),
  ...(['steps', 'own_started_at', 'own_completed_at', 'loose_version', 'traits'] as const),
]

const inserted = [...names, ...indexed, ...state]

/** Columns that a change writes: an outcome stands in one index, what else is indexed in two more. */
const updates = [state, [...outcome, ...state], [...indexed, ...state]] as const

const columns = ['id', ...inserted].join(', ')

type Column = keyof StoredRun

const valuesOf = (run: StoredRun, columns: readonly Column[]) => columns.map(name => run[name])

const isSame = (a: StoredRun, b: StoredRun, columns: readonly Column[]) =>
  columns.every(name => a[name] === b[name])

const ofPerson = 'org_id = ? and flow_id = ? and person = ?'

/** Whose a run is, and the least of the ids that its events name. */
type NamesInRun = Pick<StoredRun, 'person' | 'least_user_id' | 'least_anonymous_id'>

/** For use where nothing is made of runs. */
export const toNobody: RunChanges = { touch() {}, has: () => false }

const updateOf = (columns: readonly Column[]) =>
  `update runs set ${columns.map(name => `${name} = ?`).join(', ')} where id = ? and org_id = ?`

function statements(database: Database) {
  return {
    run: database.query<StoredRun, [number, string, number]>(
      `select ${columns} from runs where flow_id = ? and run_key = ? and org_id = ?`,
    ),
    insert: database.query(
      `insert into runs (${inserted.join(', ')}) values (${inserted.map(() => '?').join(', ')})`,
    ),
    updates: updates.map(columns => database.query(updateOf(columns))),
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
    this.update(stored, {
      ...ownRun(stored, joined, this.versionOf(orgRow, flowRow, named, startedAt)),
      started_at: startedAt,
      completed_at: least(joined.completedAt, assignedAt),
      loose_version: unattributedVersion,
    })
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
    const { org_id, flow_id, own_started_at, named_version, loose_version } = run
    const version = this.versionOf(org_id, flow_id, least(named_version, loose_version), start)
    const lastAt = own_started_at === null ? start : run.last_at
    this.update(run, { ...run, started_at: start, last_at: lastAt, version })
  }

  delete(run: StoredRun): void {
    this.changes.touch(run.org_id, run.flow_id, run.started_at)
    this.sql.deleteRun.run(run.id, run.org_id)
  }

  /** Sets when a run was completed, by itself or otherwise, and which version unattributed events name. */
  assign(run: StoredRun, completedAt: number | null, unattributedVersion: number | null): void {
    if (completedAt === run.completed_at && unattributedVersion === run.loose_version) return
    const named = least(run.named_version, unattributedVersion)
    const version = this.versionOf(run.org_id, run.flow_id, named, run.started_at)
    const assigned = { completed_at: completedAt, loose_version: unattributedVersion }
    this.update(run, { ...run, ...assigned, version })
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
    const own = { id: 0, org_id: orgRow, flow_id: flowRow, run_key: key, person }
    const run: StoredRun = {
      ...ownRun(own, state, version),
      completed_at: completedAt,
      own_started_at: ownStartedAt,
    }
    this.sql.insert.run(...valuesOf(run, inserted))
  }

  private update(before: StoredRun, now: StoredRun): void {
    const isIndexSame = isSame(before, now, indexed)
    if (isIndexSame && isSame(before, now, state)) return
    this.changes.touch(before.org_id, before.flow_id, before.started_at)
    if (now.started_at !== before.started_at) {
      this.changes.touch(before.org_id, before.flow_id, now.started_at)
    }
    const which = isIndexSame ? 0 : isSame(before, now, start) ? 1 : 2
    this.sql.updates[which]!.run(...valuesOf(now, updates[which]), now.id, now.org_id)
  }

  private versionOf(orgRow: number, flowRow: number, named: number | null, at: number): number {
    return named ?? versionAt(this.historyOf(orgRow, flowRow).versions, at)
  }
}
