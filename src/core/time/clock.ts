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
  /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d):(\d\d)(?:\.(\d{1,12}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/

/** The first and the last moment that a JavaScript date can hold. */
export const maxMs = 8_640_000_000_000_000

/** The moment of a text that is exactly as `isoTime` writes it; null for any other, such as a day that no month has. */
function momentOf(text: string): number | null {
  const ms = Date.parse(text)
  return !Number.isNaN(ms) && new Date(ms).toISOString() === text ? ms : null
}

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
  const usual = value.endsWith('Z') ? momentOf(value) : null
  if (usual !== null) return usual
  const [form, day, minute, second, fraction = '', sign, hours = 0, minutes = 0] =
    timePattern.exec(value) ?? []
  const isLeap = second === '60'
  const utc = momentOf(`${day}T${minute}:${isLeap ? 59 : second}.${`${fraction}000`.slice(0, 3)}Z`)
  if (form === undefined || utc === null || +hours > 23 || +minutes > 59) return null
  const offsetMs = (+hours * 60 + +minutes) * 60_000
  return utc + (isLeap ? 1_000 : 0) + (sign === '-' ? offsetMs : -offsetMs)
}
