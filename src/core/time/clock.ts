/** Time is passed in, so that tests can move it, and no rule secretly reads the machine's clock. */
export interface Clock {
  /** Wall clock, epoch milliseconds. May step when the operator or NTP sets it. */
  now(): number
  /** Never steps; milliseconds since an arbitrary moment that all threads of the process share. */
  monotonic(): number
}

/** The last time that was formatted, because many requests share a millisecond, and rows of an export a time. */
let lastMs = Number.NaN
let lastText = ''

/** RFC 3339 in UTC with milliseconds, the only form in which times leave Cairn. */
export function isoTime(epochMs: number): string {
  if (epochMs !== lastMs) {
    lastText = new Date(epochMs).toISOString()
    lastMs = epochMs
  }
  return lastText
}

/** Like `isoTime`, but keeps null. */
export function isoTimeOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : isoTime(epochMs)
}
