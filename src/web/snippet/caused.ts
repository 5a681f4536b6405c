import { type CausedAt, causedAt, joined, msOf } from '../../core/event/caused.ts'
import type { BrowserStore } from './parts.ts'

/** Names of events that are kept of a person, and times of each. */
const mostNames = 40
const mostTimes = 50

/** By name of event, the latest first. */
type Caused = Readonly<Record<string, readonly CausedAt[]>>

/** What the server tells of a person: what their back ends and other browsers have sent too. */
export type ToldEvents = Readonly<Record<string, readonly { at: string; mark: string }[]>>

/** The custom events that each person has caused, as far as this browser knows: what it tracked, and was told. */
export function createCaused(store: BrowserStore) {
  const keyOf = (person: string) => `caused:${person}`
  const of = (person: string): Caused => {
    const kept = store.get<Caused>(keyOf(person))
    return kept && typeof kept === 'object' && !Array.isArray(kept) ? kept : {}
  }
  const add = (person: string, more: Caused) => {
    const kept = of(person)
    const both = Object.entries(more).map(([name, times]) => [
      name,
      joined(kept[name] ?? [], times, mostTimes),
    ])
    // What was added last stands first, and stays.
    const all = { ...Object.fromEntries(both), ...without(kept, more) }
    store.set(keyOf(person), Object.fromEntries(Object.entries(all).slice(0, mostNames)))
  }

  return {
    /** As `Moment.events` has it. */
    of: (person: string): Record<string, number[]> =>
      Object.fromEntries(
        Object.entries(of(person)).map(([name, times]) => [name, times.map(msOf)]),
      ),
    /** @param at by the server's clock */
    note: (person: string, name: string, id: string, at: number) =>
      add(person, { [name]: [causedAt(id, at)] }),
    learn(person: string, told: ToldEvents) {
      const known = Object.entries(told).map(([name, times]) => [
        name,
        times.map(({ at, mark }): CausedAt => [Date.parse(at) / 60_000, mark]),
      ])
      if (known.length > 0) add(person, Object.fromEntries(known))
    },
    /** A visitor has turned out to be a user: what they have done, they have done. */
    adopt(from: string, to: string) {
      add(to, of(from))
      store.remove(keyOf(from))
    },
  }
}

const without = (all: Caused, those: Caused): Caused =>
  Object.fromEntries(Object.entries(all).filter(([name]) => !Object.hasOwn(those, name)))

export type CausedEvents = ReturnType<typeof createCaused>
