import type { Database } from 'bun:sqlite'
import { least, mergeRuns, personOfRun, type RunState, versionAt } from '../../core/run/run.ts'
import { TransactionParticipant } from '../engine/participant.ts'
import { isPseudonym } from '../erasure/pseudonyms.ts'
import { type IndexedTable, RowIndex } from '../hash-index/row-index.ts'
import type { HistoryOf } from '../projections/facts.ts'
import { packAnswers, packSteps, unpackAnswers, unpackSteps } from './run-rows.ts'

/** One person in one flow, and the moments at which the order of their runs may have changed. */
export interface Touched {
  orgRow: number
  flowRow: number
  person: string
  moments: Set<number>
  /** Rows of runs that this transaction gave them. */
  newRuns: number[]
}

/** Everybody whose runs a transaction has changed. */
export class TouchedPeople {
  private readonly people = new Map<string, Touched>()

  touch(orgRow: number, flowRow: number, person: string, at: number): Touched {
    const key = `${flowRow} ${person}`
    const known = this.people.get(key) ?? {
      orgRow,
      flowRow,
      person,
      moments: new Set(),
      newRuns: [],
    }
    this.people.set(key, known)
    known.moments.add(at)
    return known
  }

  [Symbol.iterator](): Iterator<Touched> {
    return this.people.values()
  }
}

/**
 * Whose runs are that their names alone would give to another: somebody was erased from them. Rare, so
 * that flows without any are known in memory.
 */
class RunOwners {
  private readonly sql
  private flows: ReadonlySet<number> = new Set()

  constructor(database: Database) {
    this.sql = {
      flows: database.query<{ flow_id: number }, []>('select distinct flow_id from run_owners'),
      owner: database.query<{ person: string }, [number, number, string]>(
        'select person from run_owners where org_id = ? and flow_id = ? and run_key = ?',
      ),
      handOver: database.query(
        'update run_owners set person = ? where org_id = ? and flow_id = ? and run_key = ?',
      ),
    }
    this.look()
  }

  /** Another process has written: maybe it has erased somebody. */
  look(): void {
    this.flows = new Set(this.sql.flows.all().map(({ flow_id }) => flow_id))
  }

  /**
   * Whose a run is.
   *
   * @param newcomer whose it would be by the newly stored events alone
   */
  of(orgRow: number, flowRow: number, key: string, run: RunState, newcomer: string): string {
    const named = personOfRun(run)
    if (!this.flows.has(flowRow)) return named
    const owner = this.sql.owner.get(orgRow, flowRow, key)?.person ?? named
    if (owner === named || !isBefore(newcomer, owner)) return owner
    this.sql.handOver.run(newcomer, orgRow, flowRow, key)
    return newcomer
  }
}

/**
 * Whether a run goes from its owner to a newcomer: a visitor's to a user, else to the lesser id. Nobody
 * knows how the id of who was erased compares, so it stays theirs.
 */
function isBefore(newcomer: string, owner: string): boolean {
  if (newcomer[0] !== owner[0]) return newcomer.startsWith('u')
  return [newcomer, owner].every(person => !isPseudonym(person.slice(1))) && newcomer < owner
}

/** A run as it is stored: its own events' state, and what unattributed events add to it. */
export interface StoredRun {
  id: number
  org_id: number
  flow_id: number
  run_key: string
  person: string
  least_user_id: string | null
  least_anonymous_id: string | null
  started_at: number
  last_at: number
  named_version: number | null
  version: number
  completed_at: number | null
  dismissed_at: number | null
  steps: string
  own_started_at: number | null
  own_completed_at: number | null
  /** The least version that unattributed events name which are assigned to it. */
  loose_version: number | null
  /** As `packTraits` packs them; null where none were said. */
  traits: string | null
  /** As `packAnswers` packs them. */
  answers: string | null
}

/** Who keeps something that is made of runs. */
export interface RunChanges {
  /** A run has changed that starts, or started before the change, at a moment. */
  touch(orgRow: number, flowRow: number, at: number): void
  /** Whether anything is made of a flow's runs. */
  has(orgRow: number, flowRow: number): boolean
}

export const indexedRuns: IndexedTable = {
  name: 'runs',
  columns: { run_key: 'runs_by_key', person: 'runs_by_person' },
  time: 'last_at',
}
const [byKey, byPerson] = [0, 1] as const

const columns = `id, org_id, flow_id, run_key, person, least_user_id, least_anonymous_id, started_at,
  last_at, named_version, version, completed_at, dismissed_at, steps, own_started_at,
  own_completed_at, loose_version, traits, answers`

const ofMarkedPerson = 'org_id = ? and flow_id = ? and person = ? and has_loose = 1'

/** Of a kilobyte or less each. */
const mostWarm = 65_536

const warmName = (flowRow: number, key: string) => `${flowRow} ${key}`

/** For whom nothing is made of runs. */
export const toNobody: RunChanges = { touch() {}, has: () => false }

function statements(database: Database) {
  return {
    run: database.query<StoredRun, [number, number]>(
      `select ${columns} from runs where id = ? and org_id = ?`,
    ),
    insertRun: database.query(
      `insert into runs (id, org_id, flow_id, run_key, person, least_user_id, least_anonymous_id,
        started_at, last_at, named_version, version, completed_at, dismissed_at, steps,
        own_started_at, own_completed_at, traits)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    // Not what most updates leave as it is: SQLite would write its index anew all the same.
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
    // By itself, for few runs have any.
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
    mark: database.query(
      `update runs set has_loose = 1
      where id = ? and org_id = ? and flow_id = ? and person = ? and has_loose = 0`,
    ),
    firstStart: database.query<{ at: number | null }, [number, number, string, string]>(
      `select min(started_at) as at from runs where ${ofMarkedPerson} and run_key <> ?`,
    ),
    lastAt: database.query<StoredRun, [number, number, string, number]>(
      `select ${columns} from runs where ${ofMarkedPerson} and started_at = ?
      order by run_key desc limit 1`,
    ),
    changedByUnattributedAt: database.query<StoredRun, [number, number, string, number]>(
      `select ${columns} from runs
      where org_id = ? and flow_id = ? and person = ? and started_at = ?
        and (completed_at is not own_completed_at or loose_version is not null)`,
    ),
    runBefore: database.query<StoredRun, [number, number, string, number]>(
      `select ${columns} from runs where ${ofMarkedPerson} and started_at < ?
      order by started_at desc, run_key desc limit 1`,
    ),
    nextStart: database.query<
      { started_at: number },
      [number, number, string, number, number, string]
    >(
      `select started_at from runs
      where ${ofMarkedPerson} and started_at >= ? and (started_at > ? or run_key > ?)
      order by started_at limit 1`,
    ),
  }
}

/**
 * The rows of runs. Every verb works within the transaction that stores the events.
 *
 * A run is found by its key, and a person's runs by the person, through hash indexes. The runs of
 * people with unattributed events are marked, and those alone can be asked for in their order.
 */
export class RunTable extends TransactionParticipant {
  private readonly sql: ReturnType<typeof statements>
  private readonly owners: RunOwners
  /** Runs as they are stored, by flow and key: those that were read or written last. */
  private readonly warm = new Map<string, StoredRun>()

  constructor(
    database: Database,
    private readonly historyOf: HistoryOf,
    private readonly changes: RunChanges,
    readonly index = new RowIndex(database, indexedRuns),
  ) {
    super()
    this.sql = statements(database)
    this.owners = new RunOwners(database)
  }

  override rollback(): void {
    this.warm.clear()
  }

  override externalChange(): void {
    this.warm.clear()
    this.owners.look()
  }

  get(orgRow: number, flowRow: number, key: string): StoredRun | null {
    const name = warmName(flowRow, key)
    const warm = this.warm.get(name)
    if (warm?.org_id === orgRow) return warm
    const stored = this.read(orgRow, flowRow, key)
    if (stored) this.keepWarm(stored)
    return stored
  }

  /** The number of a run's row, of one that was read or written lately. */
  knownRow(orgRow: number, flowRow: number, key: string): number | null {
    const warm = this.warm.get(warmName(flowRow, key))
    return warm?.org_id === orgRow ? warm.id : null
  }

  /** Keeps a run as it is stored now: most are changed again within minutes. */
  private keepWarm(run: StoredRun): void {
    if (this.warm.size >= mostWarm) {
      for (const name of this.warm.keys()) {
        this.warm.delete(name)
        if (this.warm.size <= mostWarm / 2) break
      }
    }
    this.warm.set(warmName(run.flow_id, run.run_key), run)
  }

  private read(orgRow: number, flowRow: number, key: string): StoredRun | null {
    let found: StoredRun | null = null
    const isIt = (row: number) => {
      const run = this.sql.run.get(row, orgRow)
      if (run?.run_key !== key || run.flow_id !== flowRow) return false
      found = run
      return true
    }
    this.index.find(byKey, flowRow, key, isIt)
    return found
  }

  /**
   * Joins the state of newly stored events into their run.
   *
   * @returns whose run it was before; where it is new, whose it is
   */
  join(
    orgRow: number,
    flowRow: number,
    key: string,
    state: RunState,
    touched: TouchedPeople,
  ): string {
    const stored = this.get(orgRow, flowRow, key)
    if (!stored) return this.insertOwn(orgRow, flowRow, key, state, touched)
    // A run that only unattributed events opened has no state of its own yet.
    const joined = stored.own_started_at === null ? state : mergeRuns(state, ownStateOf(stored))
    const person = this.owners.of(orgRow, flowRow, key, joined, personOfRun(state))
    if (person !== stored.person) {
      // Written anew, so that it is found by its new person.
      this.delete(stored)
      touched.touch(orgRow, flowRow, stored.person, stored.started_at)
      this.insertOwn(orgRow, flowRow, key, joined, touched, this.completedByChecklist(stored))
      return stored.person
    }
    const isMoved = joined.startedAt !== stored.own_started_at
    const startedAt = isMoved ? joined.startedAt : stored.started_at
    const unattributedVersion = isMoved ? null : stored.loose_version
    const assignedAt = isMoved ? this.completedByChecklist(stored) : stored.completed_at
    const updated: StoredRun = {
      id: stored.id,
      org_id: orgRow,
      flow_id: flowRow,
      run_key: key,
      person: stored.person,
      least_user_id: joined.leastUserId,
      least_anonymous_id: joined.leastAnonymousId,
      started_at: startedAt,
      last_at: joined.lastAt,
      named_version: joined.namedVersion,
      version: this.versionOf(
        orgRow,
        flowRow,
        least(joined.namedVersion, unattributedVersion),
        startedAt,
      ),
      completed_at: least(joined.completedAt, assignedAt),
      dismissed_at: joined.dismissedAt,
      steps: packSteps(joined.steps),
      own_started_at: joined.startedAt,
      own_completed_at: joined.completedAt,
      loose_version: unattributedVersion,
      traits: joined.traits,
      answers: packAnswers(joined.answers),
    }
    this.update(stored, updated)
    if (isMoved) {
      touched.touch(orgRow, flowRow, stored.person, stored.started_at)
      touched.touch(orgRow, flowRow, stored.person, startedAt)
    }
    return stored.person
  }

  /** When a checklist's ticks first completed a run. */
  completedByChecklist({ org_id, flow_id, run_key }: StoredRun): number | null {
    return this.sql.byChecklist.get(org_id, flow_id, run_key)?.at ?? null
  }

  /** Opens a person's own run where only an unattributed event does: it has no state of its own. */
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
    const row = this.insert(orgRow, flowRow, key, person, state, null, null)
    this.mark(orgRow, flowRow, person, row)
  }

  /** Moves the start of a person's own run to where unattributed events say. */
  moveStart(run: StoredRun, start: number): void {
    this.touch(run, start)
    this.cool(run)
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
    this.cool(run)
    this.sql.deleteRun.run(run.id, run.org_id)
  }

  /** Says when a run was completed, by itself or otherwise, and which version unattributed events name. */
  assign(run: StoredRun, completedAt: number | null, unattributedVersion: number | null): void {
    if (completedAt === run.completed_at && unattributedVersion === run.loose_version) return
    this.touch(run)
    this.cool(run)
    const named = least(run.named_version, unattributedVersion)
    const version = this.versionOf(run.org_id, run.flow_id, named, run.started_at)
    this.sql.assign.run(completedAt, unattributedVersion, version, run.id, run.org_id)
  }

  /** Marks a run of a person with unattributed events. */
  mark(orgRow: number, flowRow: number, person: string, row: number): void {
    this.sql.mark.run(row, orgRow, flowRow, person)
  }

  /** Marks all runs of a person who had no unattributed events before. */
  markAll(orgRow: number, flowRow: number, person: string): void {
    for (const row of this.index.all(byPerson, flowRow, person)) {
      this.mark(orgRow, flowRow, person, row)
    }
  }

  /** When a marked person's first run started, leaving out the one of a key; null where there is none. */
  firstStart(orgRow: number, flowRow: number, person: string, except: string): number | null {
    return this.sql.firstStart.get(orgRow, flowRow, person, except)?.at ?? null
  }

  /**
   * Of a marked person's runs that start at a moment, those that an unattributed event can concern: the last
   * by key, and one that was the last before.
   */
  runsAt(orgRow: number, flowRow: number, person: string, at: number): StoredRun[] {
    const last = this.sql.lastAt.all(orgRow, flowRow, person, at)
    const before = this.sql.changedByUnattributedAt.all(orgRow, flowRow, person, at)
    return [...last, ...before]
  }

  /** A marked person's latest run that started before a moment; of equal starts the greatest key. */
  runBefore(orgRow: number, flowRow: number, person: string, at: number): StoredRun | null {
    return this.sql.runBefore.get(orgRow, flowRow, person, at)
  }

  /** A marked person's latest run that had started at a moment; of equal starts the greatest key. */
  latestAt(orgRow: number, flowRow: number, person: string, at: number): StoredRun | null {
    return this.runBefore(orgRow, flowRow, person, at + 1)
  }

  /** When a marked person's next run starts, in the order of starts and then keys; null for the last. */
  nextStart(orgRow: number, flowRow: number, run: StoredRun): number | null {
    const { person, started_at: start, run_key: key } = run
    return this.sql.nextStart.get(orgRow, flowRow, person, start, start, key)?.started_at ?? null
  }

  /** When each of a person's runs started. */
  startsOf(orgRow: number, flowRow: number, person: string): number[] {
    const starts: number[] = []
    for (const row of this.index.all(byPerson, flowRow, person)) {
      const run = this.sql.run.get(row, orgRow)
      if (run?.flow_id === flowRow && run.person === person) starts.push(run.started_at)
    }
    return starts
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
    const row = this.insert(orgRow, flowRow, key, person, state, state.startedAt, completedAt)
    touched.touch(orgRow, flowRow, person, state.startedAt).newRuns.push(row)
    return person
  }

  /** A new run; `ownStartedAt` is null where only an unattributed event opens it. */
  private insert(
    orgRow: number,
    flowRow: number,
    key: string,
    person: string,
    state: RunState,
    ownStartedAt: number | null,
    completedAt: number | null,
  ): number {
    this.changes.touch(orgRow, flowRow, state.startedAt)
    const row = this.index.add(flowRow, [key, person], state.lastAt)
    const version = this.versionOf(orgRow, flowRow, state.namedVersion, state.startedAt)
    const steps = packSteps(state.steps)
    this.sql.insertRun.run(
      row,
      orgRow,
      flowRow,
      key,
      person,
      state.leastUserId,
      state.leastAnonymousId,
      state.startedAt,
      state.lastAt,
      state.namedVersion,
      version,
      completedAt,
      state.dismissedAt,
      steps,
      ownStartedAt,
      state.completedAt,
      state.traits,
    )
    const answers = packAnswers(state.answers)
    if (answers !== null) this.sql.setAnswers.run(answers, row, orgRow)
    this.keepWarm({
      id: row,
      org_id: orgRow,
      flow_id: flowRow,
      run_key: key,
      person,
      least_user_id: state.leastUserId,
      least_anonymous_id: state.leastAnonymousId,
      started_at: state.startedAt,
      last_at: state.lastAt,
      named_version: state.namedVersion,
      version,
      completed_at: completedAt,
      dismissed_at: state.dismissedAt,
      steps,
      own_started_at: ownStartedAt,
      own_completed_at: state.completedAt,
      loose_version: null,
      traits: state.traits,
      answers,
    })
    return row
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
    this.keepWarm(now)
  }

  /** It is written by another statement: read it again. */
  private cool({ flow_id, run_key }: StoredRun): void {
    this.warm.delete(warmName(flow_id, run_key))
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

/** What a run's own events say, of one that has any. */
export const ownStateOf = (run: StoredRun): RunState => ({
  leastUserId: run.least_user_id,
  leastAnonymousId: run.least_anonymous_id,
  startedAt: run.own_started_at ?? run.started_at,
  lastAt: run.last_at,
  namedVersion: run.named_version,
  completedAt: run.own_completed_at,
  dismissedAt: run.dismissed_at,
  traits: run.traits,
  steps: unpackSteps(run.steps),
  answers: unpackAnswers(run.answers),
})

/** Whether two states of a run that did not move are the same. */
const isSame = (a: StoredRun, b: StoredRun): boolean =>
  a.last_at === b.last_at &&
  a.steps === b.steps &&
  a.completed_at === b.completed_at &&
  a.own_completed_at === b.own_completed_at &&
  a.dismissed_at === b.dismissed_at &&
  a.least_user_id === b.least_user_id &&
  a.least_anonymous_id === b.least_anonymous_id &&
  a.named_version === b.named_version &&
  a.traits === b.traits &&
  a.answers === b.answers &&
  a.version === b.version
