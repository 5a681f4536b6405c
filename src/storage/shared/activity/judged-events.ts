import type { JudgedEvent } from '../../../modules/events/port.ts'

/** How many events a thread passes on per second: nobody reads more, and a flood must not cost twice. */
const mostEachSecond = 250

/** Passes events that were judged in this thread on to those who watch. */
export class JudgedEvents {
  private secondAt = Number.NEGATIVE_INFINITY
  private passedOn = 0
  /** By the row of the organisation: how many events were not passed on, and not reported yet. */
  private readonly left = new Map<number, number>()

  constructor(
    private readonly pass: (orgRow: number, events: readonly JudgedEvent[], left: number) => void,
  ) {}

  note(orgRow: number, events: readonly JudgedEvent[]): void {
    const now = performance.now()
    if (now - this.secondAt >= 1_000) {
      this.secondAt = now
      this.passedOn = 0
    }
    const left = this.left.get(orgRow) ?? 0
    if (this.passedOn + events.length > mostEachSecond) {
      this.left.set(orgRow, left + events.length)
      return
    }
    this.passedOn += events.length
    this.left.delete(orgRow)
    this.pass(orgRow, events, left)
  }
}
