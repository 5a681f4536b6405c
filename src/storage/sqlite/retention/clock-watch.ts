import type { Clock } from '../../../core/time/clock.ts'
import { hourMs, minuteMs } from '../../../core/time/durations.ts'

/** How far a clock may move between two looks that was only corrected by a little. */
const smallMs = minuteMs
/** How long an operator, or NTP, has to set it right. */
const patienceMs = hourMs

/**
 * Whether the wall clock may be deleted by: one that is set years ahead makes all that is stored old.
 * After each setting, which shows against the monotonic clock, it has to stay for an hour. One that was
 * wrong from the start on is not noticed.
 */
export class ClockWatch {
  private offset: number
  private waitsUntil = Number.NEGATIVE_INFINITY

  /** @param onSet is told by how many milliseconds it was set */
  constructor(
    private readonly clock: Clock,
    private readonly onSet: (byMs: number) => void = () => {},
  ) {
    this.offset = clock.now() - clock.monotonic()
  }

  /** To be asked every so often: it is a setting only where the clock moved at once. */
  get isSteady(): boolean {
    const now = this.clock.monotonic()
    const offset = this.clock.now() - now
    const byMs = offset - this.offset
    this.offset = offset
    if (Math.abs(byMs) > smallMs) {
      this.waitsUntil = now + patienceMs
      this.onSet(byMs)
    }
    return now >= this.waitsUntil
  }
}
