import type { Database } from 'bun:sqlite'
import { idsOf, namesOf, type PersonIds, personOf } from '../../../core/event/event.ts'
import { least, makesNoRun, packTraits } from '../../../core/run/run.ts'
import { ledgerPages } from '../ledger/ledger.ts'
import type { LedgerFact } from '../projections/facts.ts'
import type { StoredRun } from '../runs/stored-run.ts'
import type { ErasureWork } from './erasure-work.ts'
import { nameInTables } from './name-in-tables.ts'
import { isPseudonym } from './pseudonyms.ts'

/** Of so many others it is known by name that they are in the person's runs. */
const maxOthers = 10_000

/** A run with an id that the person's events name, and what else is in it. */
interface SharedRun {
  /** The least ids of others. */
  userId: string | null
  anonymousId: string | null
  /** The traits in others' events, which become the run's once the person's events have none. */
  traits: string | null
  /** Whether any of the others has not been erased: then the run's id is theirs too. */
  isAnyoneLeft: boolean
  /** Rows of the ledger in which people who were erased before name it. */
  readonly batches: Set<number>
}

/** Whether an event is of somebody who was erased before. */
export const isGone = ({ userId, anonymousId }: PersonIds) =>
  isPseudonym(userId ?? anonymousId ?? '')

/** Where an organisation's data has something of a person. */
export class Traces {
  /** Runs that an event of theirs names by id, or named, by flow. */
  private readonly runs = new Map<number | null, Map<string, SharedRun>>()
  /** Whom others' events name in those runs, by flow. */
  private readonly othersNamed = new Set<string>()

  /** Rows of the ledger that name the person. */
  private readonly naming = new Set<number>()

  /** @param name as `personOf` writes it */
  constructor(readonly name: string) {}

  get hasRuns(): boolean {
    return this.runs.size > 0
  }

  /** The ids of those runs of a flow. */
  runIds(flowRow: number): string[] {
    return [...(this.runs.get(flowRow)?.keys() ?? [])]
  }

  run(flowRow: number | null, runId: string): SharedRun | null {
    return this.runs.get(flowRow)?.get(runId) ?? null
  }

  /** Whether a run's id is replaced, because the run is nobody's but theirs. */
  isRenamed(flowRow: number | null, runId: string): boolean {
    return this.run(flowRow, runId)?.isAnyoneLeft === false
  }

  /** Whether others' events may name somebody in any of those runs. */
  mayNameOther(flowRow: number, person: string): boolean {
    const { othersNamed } = this
    return othersNamed.has(`${flowRow} ${person}`) || othersNamed.size >= maxOthers
  }

  /** Rows of the ledger that have to be rewritten, ascending. */
  get batches(): readonly number[] {
    const ofErased = this.runs
      .values()
      .flatMap(runs => runs.values())
      .filter(({ isAnyoneLeft }) => !isAnyoneLeft)
      .flatMap(({ batches }) => batches)
    return [...this.naming.union(new Set(ofErased))].sort((a, b) => a - b)
  }

  /** Notes an event that names the person. */
  addNaming(seq: number, { flowRow, runId, ...ids }: LedgerFact): void {
    this.naming.add(seq)
    const isOwn = personOf(ids.userId, ids.anonymousId) === this.name
    if (isOwn && runId !== null) this.addRun(flowRow, runId)
  }

  addRun(flowRow: number | null, runId: string): SharedRun {
    const known = this.run(flowRow, runId)
    if (known) return known
    const nobody = { userId: null, anonymousId: null, traits: null, isAnyoneLeft: false }
    const run: SharedRun = { ...nobody, batches: new Set() }
    this.runs.set(flowRow, (this.runs.get(flowRow) ?? new Map()).set(runId, run))
    return run
  }

  /** Notes an event of somebody else, if it is in one of the person's runs. */
  addOther(seq: number, event: LedgerFact): void {
    const { flowRow, runId, traits, occurredAt } = event
    const run = runId === null ? null : this.run(flowRow, runId)
    if (run === null) return
    if (!makesNoRun(event.kind)) {
      this.noteOther(run, flowRow, event)
      run.traits = least(run.traits, traits && packTraits(occurredAt, traits))
    }
    if (isGone(event)) run.batches.add(seq)
  }

  /** Notes that a run names somebody else. */
  noteOther(run: SharedRun, flowRow: number | null, ids: PersonIds): void {
    const anonymousId = ids.anonymousId === idsOf(this.name).anonymousId ? null : ids.anonymousId
    for (const one of namesOf(ids)) {
      if (this.othersNamed.size < maxOthers) this.othersNamed.add(`${flowRow} ${one}`)
    }
    run.userId = least(run.userId, ids.userId)
    run.anonymousId = least(run.anonymousId, anonymousId)
    run.isAnyoneLeft ||= !isGone(ids)
  }
}

/**
 * Looks through an organisation's data for a person; yields the number of batches looked at.
 *
 * @returns null if nothing is stored of them
 */
export function* tracesOf(work: ErasureWork): Generator<number, Traces | null> {
  const { database, orgRow, person } = work
  let traces: Traces | null = null
  for (const page of ledgerPages(database, orgRow)) {
    for (const { seq, facts } of page) {
      for (const fact of facts) {
        const named = namesOf(fact).find(person)
        if (named === undefined) continue
        traces ??= new Traces(named)
        traces.addNaming(seq, fact)
      }
    }
    yield page.length
  }
  if (traces === null) {
    const name = yield* nameInTables(work)
    if (name === null) return null
    traces = new Traces(name)
  }
  addStoredRuns(work, traces)
  if (!traces.hasRuns) return traces
  for (const page of ledgerPages(database, orgRow)) {
    for (const { seq, facts } of page) {
      for (const fact of facts) {
        if (personOf(fact.userId, fact.anonymousId) !== traces.name) traces.addOther(seq, fact)
      }
    }
    yield page.length
  }
  // Retention may meanwhile have deleted events before they were looked at.
  addStoredRuns(work, traces)
  return traces
}

/** The people whom a run is known to name, if it names several. */
export function peopleInRuns(database: Database, orgRow: number) {
  const people = database.query<{ person: string }, [number, number, string]>(
    'select person from run_people where org_id = ? and flow_id = ? and run_key = ?',
  )
  return (run: Pick<StoredRun, 'flow_id' | 'run_key'>): string[] =>
    people.all(orgRow, run.flow_id, run.run_key).map(({ person }) => person)
}

type NamedRow = Pick<StoredRun, 'flow_id' | 'run_key' | 'least_user_id' | 'least_anonymous_id'>

/**
 * Adds what is stored of the person's runs with an id of which retention may have deleted events: only their rows
 * still tell whose they are.
 */
function addStoredRuns({ database, orgRow }: ErasureWork, traces: Traces): void {
  const { name } = traces
  const { userId, anonymousId } = idsOf(name)
  const flows = database
    .query<{ flow_id: number; last_at: number }, [number]>(
      'select flow_id, last_at from deleted_events where org_id = ?',
    )
    .all(orgRow)
  const runs = database.query<NamedRow, Record<string, string | number | null>>(
    `select flow_id, run_key, least_user_id, least_anonymous_id from runs
    where org_id = $orgRow and flow_id = $flow_id and started_at <= $last_at and run_key glob 'r*'
      and (least_user_id = $userId or least_anonymous_id = $anonymousId
        or substr(run_key, 2) in (select value from json_each($named))
        or run_key in (select run_key from run_people
          where org_id = $orgRow and flow_id = $flow_id and person = $name))`,
  )
  const peopleIn = peopleInRuns(database, orgRow)
  for (const flow of flows) {
    const named = JSON.stringify(traces.runIds(flow.flow_id))
    for (const row of runs.all({ orgRow, ...flow, name, userId, anonymousId, named })) {
      const run = traces.addRun(flow.flow_id, row.run_key.slice(1))
      for (const one of peopleIn(row)) {
        if (one !== name) traces.noteOther(run, flow.flow_id, idsOf(one))
      }
      // The anonymous id may have stood beside the person's user id, and goes with it.
      const beside = userId === null ? row.least_anonymous_id : null
      const ids = { userId: row.least_user_id, anonymousId: beside }
      const isSomeones = ids.userId !== null || beside !== null
      if (isSomeones && personOf(ids.userId, beside) !== name) {
        traces.noteOther(run, flow.flow_id, ids)
      }
    }
  }
}
