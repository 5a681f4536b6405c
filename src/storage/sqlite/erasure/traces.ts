import type { Database } from 'bun:sqlite'
import { idsOf } from '../../../core/event/event.ts'
import type { PersonIds } from '../../../core/event/stored-event.ts'
import { least, makesNoRun, packTraits } from '../../../core/run/run.ts'
import { pages } from '../database/pages.ts'
import { ledgerPages } from '../ledger/ledger.ts'
import type { StoredRun } from '../runs/stored-run.ts'
import { isBeside, isOf, isPerson, type PersonMatcher } from './person-matcher.ts'
import { isPseudonym } from './pseudonyms.ts'

/** Runs that a statement reads. */
const pageRuns = 2_000

/** Whoever else is named by the events of a run. */
export interface OthersInRun {
  leastUserId: string | null
  leastAnonymousId: string | null
  /** What their events say of traits: what is the run's once the person's events say nothing. */
  traits: string | null
  /** Whether any of them has not been erased: then the run's id is theirs too. */
  isAnyoneLeft: boolean
}

/** Where the ledger holds something of a person, and runs of which it holds no longer all. */
export interface Traces {
  /** Rows of the ledger that have to be written anew, ascending. */
  batches: readonly number[]
  /** Whether the person is one by user id; null where nothing says so. */
  isUser: boolean | null
  /** Every run that an event of theirs names, or named, by its id, as `runName` says it. */
  namedRuns: ReadonlySet<string>
  others: ReadonlyMap<string, OthersInRun>
  /** Whether a run's id goes: it is nobody's but theirs. */
  isRenamed(flowRow: number | null, runId: string): boolean
}

export const runName = (flowRow: number | null, runId: string) => `${flowRow} ${runId}`

/** Looks through an organisation's ledger for a person; yields the number of batches looked at. */
export function* tracesOf(
  database: Database,
  orgRow: number,
  person: PersonMatcher,
): Generator<number, Traces> {
  const batches = new Set<number>()
  const namedRuns = new Set<string>()
  let isUser: boolean | null = null
  for (const page of ledgerPages(database, orgRow)) {
    for (const { seq, facts } of page) {
      for (const fact of facts) {
        if (!isOf(person, fact)) {
          if (isBeside(person, fact)) batches.add(seq)
          continue
        }
        batches.add(seq)
        isUser = fact.userId !== null
        if (fact.runId !== null) namedRuns.add(runName(fact.flowRow, fact.runId))
      }
    }
    yield page.length
  }
  const others = new Map<string, OthersInRun>()
  const note = (name: string, ids: PersonIds, traits: string | null = null) => {
    const { userId, anonymousId } = ids
    const other = { userId, anonymousId: isBeside(person, ids) ? null : anonymousId }
    others.set(name, withOther(others.get(name), other, traits))
  }
  const peopleOf = database.query<{ person: string }, [number, number, string]>(
    'select person from run_people where org_id = ? and flow_id = ? and run_key = ?',
  )
  function* lookAtRuns(): Generator<number> {
    for (const runs of runsWithDeleted(database, orgRow)) {
      for (const { flow_id: flowRow, run_key: key, ...row } of runs) {
        const name = runName(flowRow, key.slice(1))
        const ids = { userId: row.least_user_id, anonymousId: row.least_anonymous_id }
        const people = peopleOf.all(orgRow, flowRow, key).map(({ person }) => person)
        for (const one of people.filter(one => isPerson(person, one))) {
          namedRuns.add(name)
          isUser = one.startsWith('u')
        }
        const isTheirs = ids.userId !== null && person.isUser(ids.userId)
        if (isTheirs || (ids.anonymousId !== null && person.isAnonymous(ids.anonymousId))) {
          namedRuns.add(name)
          isUser = isTheirs
        }
        if (!namedRuns.has(name)) continue
        for (const one of people) if (!isPerson(person, one)) note(name, idsOf(one))
        // An anonymous id may have stood beside theirs, and goes with it.
        if (isUser) ids.anonymousId = null
        const isSomeones = ids.userId !== null || ids.anonymousId !== null
        if (isSomeones && !isOf(person, ids)) note(name, ids)
      }
      yield 0
    }
  }
  yield* lookAtRuns()
  /** Batches in which people who were erased before name a run. */
  const beforeUs = new Map<string, Set<number>>()
  if (namedRuns.size > 0) {
    for (const page of ledgerPages(database, orgRow)) {
      for (const { seq, facts } of page) {
        for (const fact of facts) {
          if (fact.runId === null || isOf(person, fact)) continue
          const name = runName(fact.flowRow, fact.runId)
          if (!namedRuns.has(name)) continue
          const { traits } = fact
          const packed = traits && packTraits(fact.occurredAt, traits)
          if (!makesNoRun(fact.kind)) note(name, fact, packed)
          if (!isGone(fact)) continue
          beforeUs.set(name, (beforeUs.get(name) ?? new Set()).add(seq))
        }
      }
      yield page.length
    }
    // Of what the retention deletes meanwhile nothing was seen, maybe.
    yield* lookAtRuns()
  }
  const isRenamed = (flowRow: number | null, runId: string) => {
    const name = runName(flowRow, runId)
    return namedRuns.has(name) && !others.get(name)?.isAnyoneLeft
  }
  for (const [name, seqs] of beforeUs) {
    if (others.get(name)?.isAnyoneLeft) continue
    for (const seq of seqs) batches.add(seq)
  }
  const ascending = [...batches].sort((a, b) => a - b)
  return { batches: ascending, isUser, namedRuns, others, isRenamed }
}

/** Whether an event is of somebody who was erased before. */
export const isGone = ({ userId, anonymousId }: PersonIds) =>
  isPseudonym(userId ?? anonymousId ?? '')

const withOther = (
  known: OthersInRun | undefined,
  other: PersonIds,
  traits: string | null,
): OthersInRun => ({
  leastUserId: least(known?.leastUserId ?? null, other.userId),
  leastAnonymousId: least(known?.leastAnonymousId ?? null, other.anonymousId),
  traits: least(known?.traits ?? null, traits),
  isAnyoneLeft: known?.isAnyoneLeft === true || !isGone(other),
})

type RunRow = Pick<StoredRun, 'id' | 'started_at' | 'flow_id' | 'run_key'> &
  Pick<StoredRun, 'least_user_id' | 'least_anonymous_id'>

/** An organisation's runs with an id, of which the retention may have deleted events: the rows alone know of whom. */
function* runsWithDeleted(database: Database, orgRow: number): Generator<readonly RunRow[]> {
  const flows = database.query<{ flow_id: number; last_at: number }, [number]>(
    'select flow_id, last_at from deleted_events where org_id = ?',
  )
  const page = database.query<RunRow, [number, number, number, number, number]>(
    `select id, started_at, flow_id, run_key, least_user_id, least_anonymous_id from runs
    where org_id = ? and flow_id = ? and (started_at, id) > (?, ?) and started_at <= ?
    order by started_at, id limit ${pageRuns}`,
  )
  for (const { flow_id, last_at } of flows.all(orgRow)) {
    const next = (last: { started_at: number; id: number }) =>
      page.all(orgRow, flow_id, last.started_at, last.id, last_at)
    for (const runs of pages(next, { started_at: Number.MIN_SAFE_INTEGER, id: 0 }, pageRuns)) {
      yield runs.filter(({ run_key: key }) => key.startsWith('r'))
    }
  }
}
