import { type FlowHistory, noHistory } from '../../core/flow/decision.ts'
import type { BrowserStore } from './parts.ts'

/** How many people's past one browser keeps; the one seen longest ago makes room. */
const maxPeople = 5

/** What a person has done with a flow, as far as this browser knows. */
export interface KnownHistory extends FlowHistory {
  /** The run that ended last in this browser; the server may not know of it yet. */
  endedRunId?: string | null
  /** When the page itself last started the flow. Such a run interrupts nobody. */
  askedForAt?: number
}

/** By flow id. */
type Past = Readonly<Record<string, KnownHistory>>

/** What the server tells about a person and a flow, from what came from all their browsers. */
export interface ServerHistory {
  runs: number
  startedAt: string | null
  completedAt: string | null
  dismissedAt: string | null
  openRunId: string | null
}

const timeOf = (time: string | null) => (time === null ? null : Date.parse(time))

const historyOf = ({ runs, openRunId, ...times }: ServerHistory): FlowHistory => ({
  runs,
  startedAt: timeOf(times.startedAt),
  completedAt: timeOf(times.completedAt),
  dismissedAt: timeOf(times.dismissedAt),
  inProgress: openRunId !== null,
  openRunId,
})

const later = (a: number | null, b: number | null) => (a === null || (b !== null && b > a) ? b : a)

/**
 * What a browser and another place know together. Each may know something that the other does not know,
 * or not yet. The later time and the larger count win. The other place says which run is open, unless
 * that run has ended here.
 */
export function mergedHistory(here: KnownHistory, there: KnownHistory): KnownHistory {
  const { openRunId = null } = there
  const isOpen = openRunId !== null && openRunId !== here.endedRunId
  return {
    // If a user was a visitor for a while, the run that they ended as a user came before that.
    ...(there.endedRunId && { endedRunId: there.endedRunId }),
    ...here,
    runs: Math.max(here.runs, there.runs),
    startedAt: later(here.startedAt, there.startedAt),
    completedAt: later(here.completedAt, there.completedAt),
    dismissedAt: later(here.dismissedAt, there.dismissedAt),
    inProgress: here.inProgress || isOpen,
    openRunId: isOpen ? openRunId : null,
  }
}

const merged = (here: Past, there: Past): Past => ({
  ...here,
  ...Object.fromEntries(
    Object.entries(there).map(([id, ofFlow]) => [id, mergedHistory(here[id] ?? noHistory, ofFlow)]),
  ),
})

/** What each person has done with each flow in this browser, by flow id. */
export function createHistory(store: BrowserStore) {
  const key = 'past'
  const all = () => {
    const kept = store.get<[person: string, past: Past][]>(key)
    return Array.isArray(kept) ? kept.filter(Array.isArray) : []
  }
  const of = (person: string): Past => all().find(([name]) => name === person)?.[1] ?? {}

  const write = (person: string, past: Past) => {
    const others = all().filter(([name]) => name !== person)
    store.set(key, [[person, past], ...others].slice(0, maxPeople))
  }

  return {
    of,
    /** @param byFlow by flow id */
    learn(person: string, byFlow: Readonly<Record<string, ServerHistory>>) {
      const entries = Object.entries(byFlow).map(([flowId, ofFlow]) => [flowId, historyOf(ofFlow)])
      write(person, merged(of(person), Object.fromEntries(entries)))
    },
    change(person: string, flowId: string, change: (past: KnownHistory) => KnownHistory) {
      const past = of(person)
      write(person, { ...past, [flowId]: change(past[flowId] ?? noHistory) })
    },
    /** A visitor has turned out to be a user, who takes over what the visitor has seen. */
    adopt(from: string, to: string) {
      write(to, merged(of(from), of(to)))
    },
  }
}

export type History = ReturnType<typeof createHistory>

export const started =
  (at: number, isRequested = false) =>
  (past: KnownHistory): KnownHistory => ({
    ...past,
    runs: past.runs + 1,
    startedAt: at,
    inProgress: true,
    ...(isRequested && { askedForAt: at }),
  })

/** How far apart two clocks that have the same start may be, milliseconds. */
const sameStartMs = 2 * 60_000

/** Whether the latest run was one that the page started. */
export const isAskedFor = ({ startedAt, askedForAt }: KnownHistory): boolean =>
  askedForAt !== undefined && (startedAt ?? 0) <= askedForAt + sameStartMs

/** The run turned out not to be for them. The server may know it as open, and must not begin it here. */
export const withdrawn =
  (endedRunId: string) =>
  (past: KnownHistory): KnownHistory => ({
    ...past,
    inProgress: false,
    openRunId: null,
    endedRunId,
  })

export const ended =
  (outcome: 'completed' | 'dismissed', endedRunId: string, at: number) =>
  (past: KnownHistory): KnownHistory => ({
    ...past,
    [`${outcome}At`]: at,
    inProgress: false,
    openRunId: null,
    endedRunId,
  })
