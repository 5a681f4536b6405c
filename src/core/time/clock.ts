/** Time is handed in, so that tests move it by hand and no rule reads the machine's clock behind our back. */
export interface Clock {
  /** Wall clock, epoch milliseconds. May step when the operator or NTP sets it. */
  now(): number
  /** Never steps; milliseconds since an arbitrary moment that all threads of the process share. */
  monotonic(): number
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
