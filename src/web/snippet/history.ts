import { type FlowHistory, noHistory } from '../../core/decision.ts'
import type { Keep } from './parts.ts'

/** People of one browser whose past is kept; the one seen longest ago makes room. */
const mostPeople = 5

type Past = Record<string, FlowHistory>

/** What each person has done with each flow in this browser, by flow id. */
export function createHistory(keep: Keep) {
  const key = 'past'
  const all = () => keep.get<[person: string, past: Past][]>(key) ?? []
  const pastOf = (person: string): Past => all().find(([name]) => name === person)?.[1] ?? {}

  const write = (person: string, past: Past) => {
    const others = all().filter(([name]) => name !== person)
    keep.set(key, [[person, past], ...others].slice(0, mostPeople))
  }

  return {
    of: (person: string, flowId: string): FlowHistory => pastOf(person)[flowId] ?? noHistory,
    change(person: string, flowId: string, change: (past: FlowHistory) => FlowHistory) {
      const past = pastOf(person)
      write(person, { ...past, [flowId]: change(past[flowId] ?? noHistory) })
    },
    /** A visitor has turned out to be a user: what they have seen, they have seen. */
    adopt(from: string, to: string) {
      write(to, { ...pastOf(from), ...pastOf(to) })
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
