import type { Database } from 'bun:sqlite'
import { idsOf, namesOf } from '../../../core/event/event.ts'
import type { PersonIds } from '../../../core/event/stored-event.ts'
import { least, makesNoRun, packTraits } from '../../../core/run/run.ts'
import { pages } from '../database/pages.ts'
import { ledgerPages } from '../ledger/ledger.ts'
import type { LedgerFact } from '../projections/facts.ts'
import type { StoredRun } from '../runs/stored-run.ts'
import { isBeside, isNamedIn, isOf, isPerson, type PersonMatcher } from './person-matcher.ts'
import { isPseudonym } from './pseudonyms.ts'

/** Runs that a statement reads. */
const pageRuns = 2_000

/** Of so many others it is known by name that they are in the person's runs. */
const mostOthers = 10_000

/** Other people whom the events of a run name. */
interface OthersInRun {
  leastUserId: string | null
  leastAnonymousId: string | null
  /** The traits in their events, which become the run's once the person's events have none. */
  traits: string | null
  /** Whether any of them has not been erased: then the run's id is theirs too. */
  isAnyoneLeft: boolean
}

export const runName = (flowRow: number | null, runId: string) => `${flowRow} ${runId}`

const otherName = (flowRow: number | null, person: string) => `${flowRow} ${person}`

/** The parts of an event that tell whose its run is. */
export type RunNaming = Pick<
  LedgerFact,
  'flowRow' | 'runId' | 'kind' | 'userId' | 'anonymousId' | 'occurredAt' | 'traits'
>

/** The parts of a run that tell whose it is. */
export type NamedRun = Pick<
  StoredRun,
  'flow_id' | 'run_key' | 'least_user_id' | 'least_anonymous_id'
>

/**
 * Gathers which runs a person's events name, and who else is in those runs. The person's own events have to
 * be added first, then the others'.
 */
export class NamedRuns {
  /** Whether the person goes by a user id; null if nothing tells. */
  isUser: boolean | null = null
  /** Every run that an event of theirs names by id, or named, as `runName` writes it. */
  readonly namedRuns = new Set<string>()
  readonly others = new Map<string, OthersInRun>()
  /** Whom others' events name in those runs, by flow. */
  private readonly othersNamed = new Set<string>()

  constructor(private readonly person: PersonMatcher) {}

  /** Whether a run's id is replaced, because the run is nobody's but theirs. */
  isRenamed(flowRow: number | null, runId: string): boolean {
    const name = runName(flowRow, runId)
    return this.namedRuns.has(name) && !this.others.get(name)?.isAnyoneLeft
  }

  /** Whether others' events may name somebody in any of those runs. */
  mayNameOther(flowRow: number, person: string): boolean {
    const { othersNamed } = this
    return othersNamed.has(otherName(flowRow, person)) || othersNamed.size >= mostOthers
  }

  /** Adds an event of the person. */
  addOwn({ userId, flowRow, runId }: Pick<RunNaming, 'userId' | 'flowRow' | 'runId'>): void {
    this.isUser = userId !== null
    if (runId !== null) this.namedRuns.add(runName(flowRow, runId))
  }

  /**
   * Adds an event of somebody else.
   *
   * @returns the run, if it is one of the person's and the event is of somebody who was erased before
   */
  addOther(event: RunNaming): string | null {
    if (event.runId === null) return null
    const name = runName(event.flowRow, event.runId)
    if (!this.namedRuns.has(name)) return null
    const { traits } = event
    const packed = traits && packTraits(event.occurredAt, traits)
    if (!makesNoRun(event.kind)) this.note(name, event.flowRow, event, packed)
    return isGone(event) ? name : null
  }

  /**
   * Adds a run with an id, of which retention may have deleted events.
   *
   * @param people whom it is known to name, if it names several
   */
  addRun({ flow_id, run_key, ...run }: NamedRun, people: readonly string[]): void {
    const { person } = this
    const name = runName(flow_id, run_key.slice(1))
    const ids = { userId: run.least_user_id, anonymousId: run.least_anonymous_id }
    for (const one of people.filter(one => isPerson(person, one))) {
      this.namedRuns.add(name)
      this.isUser = one.startsWith('u')
    }
    if (isNamedIn(person, ids)) {
      this.namedRuns.add(name)
      this.isUser = ids.userId !== null && person.isUser(ids.userId)
    }
    if (!this.namedRuns.has(name)) return
    for (const one of people) if (!isPerson(person, one)) this.note(name, flow_id, idsOf(one))
    // The anonymous id may have stood beside the person's user id, and goes with it.
    if (this.isUser) ids.anonymousId = null
    const isSomeones = ids.userId !== null || ids.anonymousId !== null
    if (isSomeones && !isOf(person, ids)) this.note(name, flow_id, ids)
  }

  private note(
    name: string,
    flowRow: number | null,
    ids: PersonIds,
    traits: string | null = null,
  ): void {
    const known = this.others.get(name)
    const anonymousId = isBeside(this.person, ids) ? null : ids.anonymousId
    for (const one of namesOf(ids)) {
      if (this.othersNamed.size < mostOthers) this.othersNamed.add(otherName(flowRow, one))
    }
    this.others.set(name, {
      leastUserId: least(known?.leastUserId ?? null, ids.userId),
      leastAnonymousId: least(known?.leastAnonymousId ?? null, anonymousId),
      traits: least(known?.traits ?? null, traits),
      isAnyoneLeft: known?.isAnyoneLeft === true || !isGone(ids),
    })
  }
}

/** Where an organisation's ledger holds something of a person. */
export interface Traces {
  named: NamedRuns
  /** Rows of the ledger that have to be rewritten, ascending. */
  batches: readonly number[]
}

/** Looks through an organisation's ledger for a person; yields the number of batches looked at. */
export function* tracesOf(
  database: Database,
  orgRow: number,
  person: PersonMatcher,
): Generator<number, Traces> {
  const batches = new Set<number>()
  const named = new NamedRuns(person)
  for (const page of ledgerPages(database, orgRow)) {
    for (const { seq, facts } of page) {
      for (const fact of facts) {
        const isTheirs = isOf(person, fact)
        if (isTheirs) named.addOwn(fact)
        if (isTheirs || isBeside(person, fact)) batches.add(seq)
      }
    }
    yield page.length
  }
  const peopleIn = peopleInRuns(database, orgRow)
  function* lookAtRuns(): Generator<number> {
    for (const runs of runsWithDeleted(database, orgRow)) {
      for (const run of runs) named.addRun(run, peopleIn(run))
      yield 0
    }
  }
  yield* lookAtRuns()
  /** By run, the batches in which people who were erased before name it. */
  const beforeUs = new Map<string, Set<number>>()
  if (named.namedRuns.size > 0) {
    for (const page of ledgerPages(database, orgRow)) {
      for (const { seq, facts } of page) {
        for (const fact of facts) {
          const name = isOf(person, fact) ? null : named.addOther(fact)
          if (name === null) continue
          beforeUs.set(name, (beforeUs.get(name) ?? new Set()).add(seq))
        }
      }
      yield page.length
    }
    // Retention may meanwhile have deleted events before they were looked at.
    yield* lookAtRuns()
  }
  for (const [name, seqs] of beforeUs) {
    if (named.others.get(name)?.isAnyoneLeft) continue
    for (const seq of seqs) batches.add(seq)
  }
  return { named, batches: [...batches].sort((a, b) => a - b) }
}

/** The people whom a run is known to name, if it names several. */
export function peopleInRuns(database: Database, orgRow: number) {
  const people = database.query<{ person: string }, [number, number, string]>(
    'select person from run_people where org_id = ? and flow_id = ? and run_key = ?',
  )
  return (run: Pick<StoredRun, 'flow_id' | 'run_key'>): string[] =>
    people.all(orgRow, run.flow_id, run.run_key).map(({ person }) => person)
}

/** Whether an event is of somebody who was erased before. */
export const isGone = ({ userId, anonymousId }: PersonIds) =>
  isPseudonym(userId ?? anonymousId ?? '')

/**
 * An organisation's runs with an id of which retention may have deleted events: only their rows still tell
 * whose they are.
 */
function* runsWithDeleted(database: Database, orgRow: number): Generator<readonly NamedRun[]> {
  const flows = database.query<{ flow_id: number; last_at: number }, [number]>(
    'select flow_id, last_at from deleted_events where org_id = ?',
  )
  for (const { flow_id, last_at } of flows.all(orgRow)) {
    for (const runs of runsOfFlow(database, orgRow, flow_id, last_at)) {
      yield runs.filter(({ run_key: key }) => key.startsWith('r'))
    }
  }
}

type RunRow = NamedRun & Pick<StoredRun, 'id' | 'person' | 'started_at'>

/** A flow's runs that began up to a moment, in the order of their beginnings. */
export function* runsOfFlow(
  database: Database,
  orgRow: number,
  flowRow: number,
  until = Number.MAX_SAFE_INTEGER,
): Generator<readonly RunRow[]> {
  const page = database.query<RunRow, [number, number, number, number, number]>(
    `select id, person, started_at, flow_id, run_key, least_user_id, least_anonymous_id from runs
    where org_id = ? and flow_id = ? and (started_at, id) > (?, ?) and started_at <= ?
    order by started_at, id limit ${pageRuns}`,
  )
  const next = (last: { started_at: number; id: number }) =>
    page.all(orgRow, flowRow, last.started_at, last.id, until)
  yield* pages(next, { started_at: Number.MIN_SAFE_INTEGER, id: 0 }, pageRuns)
}
