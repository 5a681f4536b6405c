/** One person in one flow, and the moments at which the order of their runs may have changed. */
export interface Touched {
  orgRow: number
  flowRow: number
  person: string
  moments: Set<number>
}

/** Everybody whose runs a transaction has changed. */
export class TouchedPeople {
  private readonly people = new Map<string, Touched>()

  touch(orgRow: number, flowRow: number, person: string, at: number): void {
    const key = `${flowRow} ${person}`
    const known = this.people.get(key) ?? { orgRow, flowRow, person, moments: new Set() }
    this.people.set(key, known)
    known.moments.add(at)
  }

  [Symbol.iterator](): Iterator<Touched> {
    return this.people.values()
  }
}
