/** Time is handed in, so that tests move it by hand and no rule reads the machine's clock behind our back. */
export interface Clock {
  /** Wall clock, epoch milliseconds. May step when the operator or NTP sets it. */
  now(): number
  /** Never steps; milliseconds since an arbitrary moment that all threads of the process share. */
  monotonic(): number
}

/** Both clocks of a thread at one moment. */
export interface ClockReading {
  wallMs: number
  monotonicMs: number
}

export function readingOf(clock: Clock): ClockReading {
  return { wallMs: clock.now(), monotonicMs: clock.monotonic() }
}

/**
 * The machine's clock.
 *
 * Every monotonic clock of Bun starts at zero in every thread, so a thread that is to agree with
 * its parent is given a reading of the parent's clocks. How long ago that was (loading a thread can
 * take a second) is told by the wall clock, which is trusted for that moment only.
 */
export function systemClock(parent?: ClockReading): Clock {
  const offset = parent ? parent.monotonicMs + (Date.now() - parent.wallMs) - performance.now() : 0
  return { now: Date.now, monotonic: () => performance.now() + offset }
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
