/**
 * Cuts a thread's heavy work into slices, one in each turn of its event loop, so that what is
 * quick is answered in between: sixty batches of events that arrive at the same moment would keep
 * all else waiting for as long as all of them take.
 *
 * Work goes in the order in which it came. A slice is measured by what is known beforehand (the
 * length of a body), because the time is known only when it is spent.
 */
export class WeightedSlices {
  private spent = 0
  private isTurning = false
  private readonly waiting: { weight: number; begin: () => void }[] = []
  private waitingSum = 0

  /** @param most weight that a slice takes; a piece of work that is heavier has one to itself */
  constructor(private readonly most: number) {}

  /** The weight of all that waits for its slice. */
  get waitingWeight(): number {
    return this.waitingSum
  }

  /** Where the slice has room, nothing to wait for; else a promise of the turn in which it has. */
  enter(weight: number): Promise<void> | undefined {
    if (this.waiting.length === 0 && this.hasRoom(weight)) {
      this.spend(weight)
      return
    }
    this.waitingSum += weight
    return new Promise(begin => this.waiting.push({ weight, begin }))
  }

  private hasRoom(weight: number): boolean {
    return this.spent === 0 || this.spent + weight <= this.most
  }

  private spend(weight: number): void {
    this.spent += weight
    if (this.isTurning) return
    this.isTurning = true
    // Sockets are looked at before it is called.
    setImmediate(() => this.turn())
  }

  private turn(): void {
    this.isTurning = false
    this.spent = 0
    for (let next = this.waiting[0]; next && this.hasRoom(next.weight); next = this.waiting[0]) {
      this.waiting.shift()
      this.waitingSum -= next.weight
      this.spend(next.weight)
      next.begin()
    }
  }
}
