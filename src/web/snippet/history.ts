import { type FlowHistory, noHistory } from '../../core/decision.ts'
import type { Keep } from './parts.ts'

/** People of one browser whose past is kept; the one seen longest ago makes room. */
const mostPeople = 5

/** What a person has done, by flow id. */
type Past = Readonly<Record<string, FlowHistory>>

/** What each person has done with each flow in this browser, by flow id. */
export function createHistory(keep: Keep) {
  const key = 'past'
  const all = () => {
    const kept = keep.get<[person: string, past: Past][]>(key)
    return Array.isArray(kept) ? kept.filter(Array.isArray) : []
  }
  const of = (person: string): Past => all().find(([name]) => name === person)?.[1] ?? {}

  const write = (person: string, past: Past) => {
    const others = all().filter(([name]) => name !== person)
    keep.set(key, [[person, past], ...others].slice(0, mostPeople))
  }

  return {
    of,
    change(person: string, flowId: string, change: (past: FlowHistory) => FlowHistory) {
      const past = of(person)
      write(person, { ...past, [flowId]: change(past[flowId] ?? noHistory) })
    },
    /** A visitor has turned out to be a user: what they have seen, they have seen. */
    adopt(from: string, to: string) {
      write(to, { ...of(from), ...of(to) })
    },
  }
}

export type History = ReturnType<typeof createHistory>

export const started =
  (at: number) =>
  (past: FlowHistory): FlowHistory => ({
    ...past,
    runs: past.runs + 1,
    startedAt: at,
    inProgress: true,
  })

export const completed =
  (at: number) =>
  (past: FlowHistory): FlowHistory => ({
    ...past,
    completedAt: at,
    inProgress: false,
  })

export const dismissed =
  (at: number) =>
  (past: FlowHistory): FlowHistory => ({
    ...past,
    dismissedAt: at,
    inProgress: false,
  })
