import type { Clock } from '../../../core/time/clock.ts'
import { hourMs, minuteMs } from '../../../core/time/durations.ts'

/** How far a clock may move between two checks and still count as only slightly corrected. */
const smallMs = minuteMs
/** How long an operator, or NTP, has to set it right. */
const patienceMs = hourMs

/**
 * Whether the wall clock can be trusted for deleting: a clock set years ahead makes everything stored look
 * old. After each setting, which shows against the monotonic clock, it has to stay steady for an hour. A
 * clock that was wrong from the start is not noticed.
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

  /** To be read regularly, because only a sudden move of the clock counts as a setting. */
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
