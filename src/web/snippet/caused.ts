import { type CausedAt, causedAt, mergeCaused, msOf } from '../../core/event/caused.ts'
import type { BrowserStore } from './parts.ts'

/** How many event names are kept for a person, and how many times of each. */
const maxNames = 40
const maxTimes = 50

/** By the event's name, the latest first. */
type Caused = Readonly<Record<string, readonly CausedAt[]>>

/** What the server has of a person, including what back ends and other browsers have sent. */
export type ServerEvents = Readonly<Record<string, readonly { at: string; mark: string }[]>>

/** The custom events that each person has caused, as far as this browser has tracked them, or the server has sent them. */
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
      mergeCaused(kept[name] ?? [], times, maxTimes),
    ])
    // The names that were added last come first, and so are kept.
    const all = { ...Object.fromEntries(both), ...without(kept, more) }
    store.set(keyOf(person), Object.fromEntries(Object.entries(all).slice(0, maxNames)))
  }

  return {
    /** In the form of `Moment.events`. */
    of: (person: string): Record<string, number[]> =>
      Object.fromEntries(
        Object.entries(of(person)).map(([name, times]) => [name, times.map(msOf)]),
      ),
    /** @param at by the server's clock */
    note: (person: string, name: string, id: string, at: number) =>
      add(person, { [name]: [causedAt(id, at)] }),
    learn(person: string, events: ServerEvents) {
      const known = Object.entries(events).map(([name, times]) => [
        name,
        times.map(({ at, mark }): CausedAt => [Date.parse(at) / 60_000, mark]),
      ])
      if (known.length > 0) add(person, Object.fromEntries(known))
    },
    /** A visitor has turned out to be a user, who takes over what the visitor has done. */
    adopt(from: string, to: string) {
      add(to, of(from))
      store.remove(keyOf(from))
    },
  }
}

const without = (all: Caused, those: Caused): Caused =>
  Object.fromEntries(Object.entries(all).filter(([name]) => !Object.hasOwn(those, name)))

export type CausedEvents = ReturnType<typeof createCaused>
