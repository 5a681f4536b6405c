/** Counts what became of many clients, and tells whether all of it was expected. */
export class Outcomes {
  private readonly counts = new Map<string, number>()

  /** @param expected what may become of a client */
  constructor(private readonly expected: readonly string[]) {}

  add(outcome: string): void {
    this.counts.set(outcome, (this.counts.get(outcome) ?? 0) + 1)
  }

  get told(): string {
    return [...this.counts].map(([outcome, count]) => `${count} × ${outcome}`).join(', ')
  }

  get isGood(): boolean {
    return [...this.counts.keys()].every(outcome => this.expected.includes(outcome))
  }
}
