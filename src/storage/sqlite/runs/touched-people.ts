/** One person in one flow, and the moments at which the order of their runs may have changed. */
export interface Touched {
  orgRow: number
  flowRow: number
  person: string
  moments: Set<number>
  /** Rows of runs that this transaction gave them. */
  newRuns: number[]
}

/** Everybody whose runs a transaction has changed. */
export class TouchedPeople {
  private readonly people = new Map<string, Touched>()

  touch(orgRow: number, flowRow: number, person: string, at: number): Touched {
    const key = `${flowRow} ${person}`
    const known = this.people.get(key) ?? {
      orgRow,
      flowRow,
      person,
      moments: new Set(),
      newRuns: [],
    }
    this.people.set(key, known)
    known.moments.add(at)
    return known
  }

  [Symbol.iterator](): Iterator<Touched> {
    return this.people.values()
  }
}
