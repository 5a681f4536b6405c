import type { Database } from 'bun:sqlite'
import { type EventSource, eventSources } from '../../core/event.ts'
import { least, makesNoRun } from '../../core/run.ts'
import { type BatchRow, textIn } from '../event-batches.ts'
import { decodeFacts } from '../event-text.ts'
import type { LedgerFact } from '../facts.ts'
import { isBeside, isOf, type PersonMatcher } from './person-matcher.ts'
import { isPseudonym } from './pseudonyms.ts'

/** Batches that a statement reads. */
const pageBatches = 64

type PageRow = Pick<BatchRow, 'seq' | 'source' | 'events' | 'facts'>

/** What an organisation's batches say, in the order of arrival; each page is a statement of its own. */
export function* ledgerPages(
  database: Database,
  orgRow: number,
): Generator<readonly { seq: number; facts: readonly LedgerFact[] }[]> {
  const page = database.query<PageRow, [number, number]>(
    `select seq, source, events, facts from event_batches
    where seq > ? and org_id = ? order by seq limit ${pageBatches}`,
  )
  for (let after = 0; ; ) {
    const rows = page.all(after, orgRow)
    yield rows.map(({ seq, source, events: count, facts }) => ({
      seq,
      facts: decodeFacts(
        { count, facts: textIn(facts) },
        orgRow,
        eventSources[source] as EventSource,
      ),
    }))
    if (rows.length < pageBatches) return
    after = rows.at(-1)!.seq
  }
}

/** Whoever else is named by the events of a run. */
export interface OthersInRun {
  leastUserId: string | null
  leastAnonymousId: string | null
  /** Whether any of them has not been erased: then the run's id is theirs too. */
  isAnyoneLeft: boolean
}

/** Where the ledger holds something of a person. */
export interface Traces {
  /** Rows of the ledger that have to be written anew, ascending. */
  batches: readonly number[]
  /** Whether the person is one by user id; null where the ledger has nothing of them. */
  isUser: boolean | null
  /** Every run that an event of theirs names by its id, as `runName` says it. */
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
  /** Batches in which people who were erased before name a run. */
  const beforeUs = new Map<string, Set<number>>()
  if (namedRuns.size > 0) {
    for (const page of ledgerPages(database, orgRow)) {
      for (const { seq, facts } of page) {
        for (const fact of facts) {
          if (fact.runId === null || isOf(person, fact)) continue
          const name = runName(fact.flowRow, fact.runId)
          if (!namedRuns.has(name)) continue
          if (!makesNoRun(fact.kind)) others.set(name, withOther(others.get(name), fact))
          if (!isGone(fact)) continue
          beforeUs.set(name, (beforeUs.get(name) ?? new Set()).add(seq))
        }
      }
      yield page.length
    }
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
export const isGone = ({ userId, anonymousId }: Pick<LedgerFact, 'userId' | 'anonymousId'>) =>
  isPseudonym(userId ?? anonymousId ?? '')

const withOther = (known: OthersInRun | undefined, fact: LedgerFact): OthersInRun => ({
  leastUserId: least(known?.leastUserId ?? null, fact.userId),
  leastAnonymousId: least(known?.leastAnonymousId ?? null, fact.anonymousId),
  isAnyoneLeft: known?.isAnyoneLeft === true || !isGone(fact),
})
