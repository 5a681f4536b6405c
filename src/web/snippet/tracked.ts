import type { BrowserStore } from './parts.ts'

/** How many names are remembered for a person: those tracked last. */
const maxNames = 100

/** Which events each person has tracked in this browser, by name, for the rules of steps. */
export function createTracked(store: BrowserStore) {
  const key = (person: string) => `tracked:${person}`
  const of = (person: string): string[] => {
    const kept = store.get<string[]>(key(person))
    return Array.isArray(kept) ? kept : []
  }
  const write = (person: string, names: readonly string[]) =>
    store.set(key(person), [...new Set(names)].slice(0, maxNames))

  return {
    note(person: string, name: string) {
      const known = of(person)
      if (known[0] !== name) write(person, [name, ...known])
    },
    has: (person: string, name: string) => of(person).includes(name),
    /** A visitor has turned out to be a user. */
    adopt(from: string, to: string) {
      const begun = of(from)
      if (begun.length > 0) write(to, [...begun, ...of(to)])
      store.remove(key(from))
    },
  }
}
