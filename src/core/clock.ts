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
 * `performance.now()` starts at zero in every thread, so a thread that is to agree with its
 * parent on `monotonic()` is given the parent's reading at the moment it starts.
 */
export function systemClock(parentMonotonicMs?: number): Clock {
  const offset = parentMonotonicMs === undefined ? 0 : parentMonotonicMs - performance.now()
  return { now: Date.now, monotonic: () => performance.now() + offset }
}

/** RFC 3339 in UTC with milliseconds, the one form in which times leave Cairn. */
export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString()
}

/** As `isoTime`, with null kept. */
export function isoTimeOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : isoTime(epochMs)
}
