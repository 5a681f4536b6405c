import type { Clock } from '../core/time/clock.ts'

/**
 * The machine's clock.
 *
 * Bun's monotonic clocks start at zero in each thread, when the thread is made (HTML, section 8.1.3.2, "time
 * origin"). So a thread that has to agree with its parent is told when it was made. The wall clock is not
 * used for this, because it may be set while the thread loads, as NTP does soon after a boot.
 *
 * @param madeAt when this thread was made, by the monotonic clock of the main thread
 */
export function systemClock(madeAt = 0): Clock {
  return { now: Date.now, monotonic: () => performance.now() + madeAt }
}
