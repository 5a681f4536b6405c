/** One person in one flow, and the moments at which the order of their runs may have changed. */
export interface Touched {
  orgRow: number
  flowRow: number
  person: string
  moments: Set<number>
  /** A loose fact was taken away: there is something to do even if none is left. */
  hadLoose: boolean
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
      hadLoose: false,
    }
    this.people.set(key, known)
    known.moments.add(at)
    return known
  }

  [Symbol.iterator](): Iterator<Touched> {
    return this.people.values()
  }
}
