import { needsItem, type PersonIds, personOf } from '../../../core/event/event.ts'
import {
  addEvent,
  isUnattributed,
  makesNoRun,
  type RunState,
  runKeyOf,
  runOfEvent,
} from '../../../core/run/run.ts'
import { type Pair, pairKeyOf } from '../runs/run-people.ts'
import type { Fact } from './facts.ts'

/** The events of a run joined, so that they cost one row however many there are. */
export interface JoinedRun {
  readonly orgRow: number
  readonly flowRow: number
  readonly key: string
  /** The person whom the first of them names. */
  readonly person: string
  readonly userId: string | null
  readonly anonymousId: string | null
  readonly state: RunState
  /** Whom the other events name, if it is somebody else. */
  others: Set<string> | null
  /** The two ids of each event that names two, by `pairKeyOf`. */
  pairs: Map<string, Pair> | null
}

/** The two ids of an event; null if it names one. */
export const pairOfFact = ({ userId, anonymousId }: PersonIds): Pair | null =>
  userId === null || anonymousId === null ? null : [`u${userId}`, `a${anonymousId}`]

/** Everybody whom the events of a run name, also beside somebody else. */
export const namedIn = ({ person, others, pairs }: JoinedRun): Set<string> =>
  new Set([person, ...(others ?? []), ...[...(pairs?.values() ?? [])].flat()])

export const personOfFact = ({ userId, anonymousId }: PersonIds) => personOf(userId, anonymousId)

/** Whether an event is part of a run by itself. */
export const isInRun = (fact: Fact) =>
  !makesNoRun(fact.kind) && !fact.byCustomEvent && !isUnattributed(fact)

/** Whether an event means more than what its run says. */
const saysMore = (fact: Fact) =>
  fact.kind === 'flow_completed' ||
  fact.kind === 'flow_held_out' ||
  needsItem(fact.kind) ||
  isUnattributed(fact)

/** A piece of work for the projector, of one flow. */
export interface Part {
  orgRow: number
  flowRow: number
  runs: readonly JoinedRun[]
  others: readonly Fact[]
}

interface OfFlow {
  orgRow: number
  count: number
  runs: Map<string, JoinedRun>
  /** Facts that mean more than what their run says. */
  others: Fact[]
}

function notePair(run: JoinedRun, fact: Fact): void {
  const pair = pairOfFact(fact)
  if (pair === null) return
  run.pairs ??= new Map()
  run.pairs.set(pairKeyOf(pair), pair)
}

/** Facts that wait to be projected, by flow and run. */
export class JoinedFacts {
  private readonly flows = new Map<number, OfFlow>()
  /** How many facts were added. */
  count = 0

  /** Whether any is of a flow. */
  has(flowRow: number): boolean {
    return this.flows.has(flowRow)
  }

  add(fact: Fact): void {
    this.count++
    const { orgRow, flowRow } = fact
    let flow = this.flows.get(flowRow)
    if (!flow) {
      flow = { orgRow, count: 0, runs: new Map(), others: [] }
      this.flows.set(flowRow, flow)
    }
    flow.count++
    if (saysMore(fact)) flow.others.push(fact)
    if (!isInRun(fact)) return
    const key = runKeyOf(fact)
    const known = flow.runs.get(key)
    if (!known) {
      const { userId, anonymousId } = fact
      const person = personOfFact(fact)
      const state = runOfEvent(fact)
      const run: JoinedRun = {
        ...{ orgRow, flowRow, key, person, userId, anonymousId, state },
        ...{ others: null, pairs: null },
      }
      notePair(run, fact)
      flow.runs.set(key, run)
      return
    }
    addEvent(known.state, fact)
    if (known.userId === fact.userId && known.anonymousId === fact.anonymousId) return
    const person = personOfFact(fact)
    if (person !== known.person) {
      known.others ??= new Set()
      known.others.add(person)
    }
    notePair(known, fact)
  }

  /** Whether ticks or reopened items of a flow are among them. */
  hasTicks(flowRow: number): boolean {
    return this.flows.get(flowRow)?.others.some(({ kind }) => needsItem(kind)) ?? false
  }

  /** All facts, in parts of at most this many runs or facts. */
  *parts(most: number): Generator<Part> {
    for (const flowRow of this.flows.keys()) yield* this.partsOf(flowRow, most)
  }

  /** The parts of one flow. */
  *partsOf(flowRow: number, most: number): Generator<Part> {
    const flow = this.flows.get(flowRow)
    if (!flow) return
    const { orgRow } = flow
    const runs = [...flow.runs.values()]
    for (let from = 0; from < runs.length; from += most) {
      yield { orgRow, flowRow, runs: runs.slice(from, from + most), others: [] }
    }
    for (let from = 0; from < flow.others.length; from += most) {
      yield { orgRow, flowRow, runs: [], others: flow.others.slice(from, from + most) }
    }
  }

  delete(flowRow: number): void {
    this.count -= this.flows.get(flowRow)?.count ?? 0
    this.flows.delete(flowRow)
  }
}
