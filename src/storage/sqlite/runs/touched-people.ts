/** One person in one flow, and the moments at which the order of their runs may have changed. */
export interface Touched {
  orgRow: number
  flowRow: number
  person: string
  moments: Set<number>
}

/** People whom a transaction concerns, each once. */
export class TouchedPeople {
  private readonly people = new Map<string, Touched>()

  /** @param at the moment at which the order of their runs may have changed, if that is why */
  touch(orgRow: number, flowRow: number, person: string, at: number | null = null): void {
    const key = `${flowRow} ${person}`
    const known = this.people.get(key) ?? { orgRow, flowRow, person, moments: new Set() }
    this.people.set(key, known)
    if (at !== null) known.moments.add(at)
  }

  touchAll(orgRow: number, flowRow: number, people: Iterable<string>): void {
    for (const person of people) this.touch(orgRow, flowRow, person)
  }

  [Symbol.iterator](): Iterator<Touched> {
    return this.people.values()
  }
}
