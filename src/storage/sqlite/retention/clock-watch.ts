import type { Clock } from '../../../core/time/clock.ts'
import { dayMs, hourMs, minuteMs } from '../../../core/time/durations.ts'

/** How far a clock may move between two checks and still count as only slightly corrected. */
const smallMs = minuteMs
/** How long a server may have been off, or without events, before its clock is in doubt. */
const maxGapMs = 7 * dayMs
/** How long an operator, or NTP, has to set it right. */
const patienceMs = hourMs

/**
 * Whether the wall clock can be trusted for deleting: a clock set years ahead makes everything stored look
 * old. After each setting, which shows against the monotonic clock, it has to stay steady for an hour. So it
 * has at the start, if the newest event is from long ago, or from later.
 */
export class ClockWatch {
  private offset: number
  private waitsUntil = Number.NEGATIVE_INFINITY

  /**
   * @param onDoubt called with how many milliseconds it was set, or how long after the newest event it starts
   * @param newestAt when the newest event was received, epoch milliseconds; null if there is none
   */
  constructor(
    private readonly clock: Clock,
    private readonly onDoubt: (byMs: number, since: 'set' | 'start') => void = () => {},
    newestAt: number | null = null,
  ) {
    this.offset = clock.now() - clock.monotonic()
    const gapMs = newestAt === null ? 0 : clock.now() - newestAt
    if (gapMs > maxGapMs || gapMs < -smallMs) this.doubt(gapMs, 'start')
  }

  /** To be read regularly, because only a sudden move of the clock counts as a setting. */
  get isSteady(): boolean {
    const now = this.clock.monotonic()
    const offset = this.clock.now() - now
    const byMs = offset - this.offset
    this.offset = offset
    if (Math.abs(byMs) > smallMs) this.doubt(byMs, 'set')
    return now >= this.waitsUntil
  }

  private doubt(byMs: number, since: 'set' | 'start'): void {
    this.waitsUntil = this.clock.monotonic() + patienceMs
    this.onDoubt(byMs, since)
  }
}
