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

/** The form of a time. Only `parseTime` checks which days and hours exist. */
export const timePattern =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,12}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/

/** The numbers must not be negative. */
const isClock = (hour: number, minute: number) => hour <= 23 && minute <= 59

/** The first and the last moment that a JavaScript date can hold. */
export const maxMs = 8_640_000_000_000_000

/** The length of `2026-11-20T09:30:00.000Z`. */
const isoLength = 24

/**
 * A time as clients send it: RFC 3339 (section 5.6) or epoch milliseconds.
 *
 * A leap second (`:60`) is the first moment of the next minute, as in POSIX time.
 *
 * @returns whole epoch milliseconds, or null if it is neither
 */
export function parseTime(value: unknown): number | null {
  if (typeof value === 'number') {
    return Number.isFinite(value) && Math.abs(value) <= maxMs ? Math.floor(value) : null
  }
  if (typeof value !== 'string') return null
  // Nearly every client sends this form, which takes a fifth of the time of the pattern.
  const usual = value.length === isoLength ? Date.parse(value) : Number.NaN
  if (!Number.isNaN(usual) && new Date(usual).toISOString() === value) return usual
  const parts = timePattern.exec(value)
  if (!parts) return null
  const [year = 0, month = 0, day = 0] = parts.slice(1, 4).map(Number)
  const [hour = 0, minute = 0, second = 0] = parts.slice(4, 7).map(Number)
  const offset = [Number(parts[9] ?? 0), Number(parts[10] ?? 0)] as const
  const millisecond = Number((parts[7] ?? '').slice(0, 3).padEnd(3, '0'))
  const date = new Date(0)
  // Not Date.UTC, which reads the years 0 to 99 as 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day)
  // A day that a month lacks becomes one of another month.
  const isDate = date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  if (!isDate || !isClock(hour, minute) || second > 60 || !isClock(...offset)) return null
  date.setUTCHours(hour, minute, second, millisecond)
  const offsetMs = (offset[0] * 60 + offset[1]) * 60_000
  return date.getTime() + (parts[8] === '-' ? offsetMs : -offsetMs)
}
