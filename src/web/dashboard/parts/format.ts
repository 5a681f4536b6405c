/** Writes numbers, times and durations as people read them, and reads numbers that they type. */

/** The time zone of this browser. */
const readerZone = Intl.DateTimeFormat().resolvedOptions().timeZone

const count = new Intl.NumberFormat('en')
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const oneDecimal = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
// Not a share times 100, which loses halves: 0.2875 * 100 is slightly below 28.75.
const percent = new Intl.NumberFormat('en', { style: 'percent' })
const tenths = new Intl.NumberFormat('en', { style: 'percent', minimumFractionDigits: 1 })

export const formatCount = (value: number): string => count.format(value)

/** A short form for axes and narrow places. */
export const formatCompact = (value: number): string => compact.format(value)

/** Shown if there is no number. */
export const none = '–'

/** With fewer runs than this, neither a percentage nor a median means anything. */
export const fewest = 5

/** A part in percent of the whole; `none` if that has too few. */
export const formatShare = (part: number, whole: number): string =>
  whole < fewest ? none : formatPercent(part / whole)

/**
 * A share in percent, however few there are: 54.0%, so that it compares with 48.2%, but 0% and 100%.
 *
 * @param share not a rate from an answer if its counts are known, because it has been rounded
 */
export const formatPercent = (share: number): string =>
  (share > 0 && share < 1 ? tenths : percent).format(share)

/** A duration in the two units that matter: 42 s, 2 min 5 s, 3 h 10 min, 4 d 2 h. */
export function formatSeconds(seconds: number | null): string {
  if (seconds === null) return none
  if (seconds < 10) return `${oneDecimal.format(seconds)} s`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  const units = [
    ['d', 86_400],
    ['h', 3_600],
    ['min', 60],
    ['s', 1],
  ] as const
  const first = units.findIndex(([, size]) => whole >= size)
  const [name, size] = units[first]!
  const [restName, restSize] = units[first + 1] ?? ['', whole]
  const rest = Math.floor((whole % size) / restSize)
  return `${Math.floor(whole / size)} ${name}${rest > 0 ? ` ${rest} ${restName}` : ''}`
}

/** A median or percentile of runs; `none` if there are too few. */
export const formatTypical = (seconds: number | null, runs: number): string =>
  runs < fewest ? none : formatSeconds(seconds)

/** How long ago, in words. */
export function formatAge(at: string | number): string {
  const seconds = Math.max(0, Math.round((Date.now() - new Date(at).getTime()) / 1_000))
  if (seconds < 10) return 'just now'
  if (seconds < 60) return `${seconds} seconds ago`
  const [size, word] =
    seconds < 3_600
      ? ([60, 'minute'] as const)
      : seconds < 86_400
        ? ([3_600, 'hour'] as const)
        : ([86_400, 'day'] as const)
  const amount = Math.floor(seconds / size)
  return `${amount} ${word}${amount === 1 ? '' : 's'} ago`
}

/** A calendar day, which has no time zone: 22 Nov 2026. */
export const formatDay = (date: string, options: Intl.DateTimeFormatOptions = {}): string =>
  new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    ...options,
    timeZone: 'UTC',
  }).format(new Date(`${date}T00:00:00Z`))

/** A calendar day without its year. */
export const formatShortDay = (date: string): string =>
  formatDay(date, { year: undefined as never })

/** A range of calendar days: 22 Nov – 24 Nov 2026. A single day is written once. */
export function formatDays(from: string, to: string): string {
  if (from === to) return formatDay(to)
  const isSameYear = from.slice(0, 4) === to.slice(0, 4)
  return `${isSameYear ? formatShortDay(from) : formatDay(from)} – ${formatDay(to)}`
}

/** The time of day to the second, in a time zone. */
export const formatSecondOfDay = (iso: string, timeZone: string): string =>
  new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone }).format(new Date(iso))

/** The time of day, in a time zone. */
export const formatClock = (iso: string, timeZone: string): string =>
  new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone }).format(
    new Date(iso),
  )

/** A time zone as people call it: Buenos Aires for `America/Argentina/Buenos_Aires`. */
export const zoneName = (zone: string): string => zone.split('/').at(-1)!.replaceAll('_', ' ')

/** A day as people write it in the middle of a sentence: 23 Nov; with its year if that is another one. */
export function formatDate(at: string | number, timeZone = readerZone): string {
  const options = { day: 'numeric', month: 'short', timeZone } as const
  const yearOf = (time: string | number) =>
    new Intl.DateTimeFormat('en-GB', { year: 'numeric', timeZone }).format(new Date(time))
  const year = yearOf(at) === yearOf(Date.now()) ? {} : ({ year: 'numeric' } as const)
  return new Intl.DateTimeFormat('en-GB', { ...options, ...year }).format(new Date(at))
}

/** A day with the time on it: 23 Nov, 14:05. */
export const formatDateTime = (at: string | number, timeZone = readerZone): string =>
  `${formatDate(at, timeZone)}, ${formatClock(new Date(at).toISOString(), timeZone)}`

/** What was typed, as a number; null if it is empty, NaN if it is no number within the bounds. */
export function numberIn(text: string, min: number, max: number, isWhole: boolean): number | null {
  const typed = text.trim()
  if (typed === '') return null
  const number = /^[+-]?\d+(?:\.\d+)?$/.test(typed) ? Number(typed) : Number.NaN
  const isRight = number >= min && number <= max && (!isWhole || Number.isInteger(number))
  return isRight ? number : Number.NaN
}

/** The value that a page would report: `12` is a number, `true` a boolean, everything else a text. */
export function typedValue(typed: string): string | number | boolean {
  if (typed === 'true' || typed === 'false') return typed === 'true'
  return typed.trim() !== '' && Number.isFinite(Number(typed)) ? Number(typed) : typed
}
