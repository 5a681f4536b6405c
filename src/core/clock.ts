/** Time is handed in, so that tests move it by hand and no rule reads the machine's clock behind our back. */
export interface Clock {
  /** Wall clock, epoch milliseconds. May step when the operator or NTP sets it. */
  now(): number
  /** Never steps; milliseconds since an arbitrary moment that all threads of the process share. */
  monotonic(): number
}

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

/** The last time that was written: many requests share a millisecond, and rows of an export a time. */
let lastMs = Number.NaN
let lastText = ''

/** RFC 3339 in UTC with milliseconds, the one form in which times leave Cairn. */
export function isoTime(epochMs: number): string {
  if (epochMs !== lastMs) {
    lastText = new Date(epochMs).toISOString()
    lastMs = epochMs
  }
  return lastText
}

/** As `isoTime`, with null kept. */
export function isoTimeOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : isoTime(epochMs)
}
