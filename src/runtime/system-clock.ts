import type { Clock } from '../core/time/clock.ts'

/**
 * The machine's clock.
 *
 * Every monotonic clock of Bun starts at zero in every thread, as the thread is made (HTML, section
 * 8.1.3.2, "time origin"). So a thread that is to agree with its parent is told when that was, and no
 * wall clock is asked, which may be set while the thread loads: NTP does so soon after a boot.
 *
 * @param madeAt when this thread was made, by the monotonic clock of the main thread
 */
export function systemClock(madeAt = 0): Clock {
  return { now: Date.now, monotonic: () => performance.now() + madeAt }
}
