import type { Problem } from '../errors.ts'

/** One calendar day of a time zone in epoch milliseconds, `endMs` exclusive. 23 to 25 hours, mostly 24. */
export type RangeDay = { date: string; startMs: number; endMs: number }

/**
 * Calendar days of one time zone: `from` and `to` are YYYY-MM-DD, both inclusive; `startMs` and `endMs` are
 * epoch milliseconds, `endMs` exclusive. `days` tile the range without gaps or overlaps; a day that the
 * zone skipped (Pacific/Apia, 2011-12-30) is included with a length of 0.
 */
export type TimeRange = {
  from: string
  to: string
  timezone: string
  startMs: number
  endMs: number
  days: RangeDay[]
}

const defaultDays = 30
const maxDays = 400
const earliest = Temporal.PlainDate.from('1970-01-01')

/**
 * Turns a query's calendar dates into instants.
 *
 * Without `to` the range ends today in the zone; without `from` it starts 29 days before its end
 * (never before 1970-01-01, so that a resolved range is itself a valid query).
 *
 * @param query `from`, `to`: YYYY-MM-DD, years 1970 to 9999; `timezone`: an IANA name, default UTC
 * @param nowMs epoch milliseconds, for "today"
 * @returns the range, or every problem found
 */
export function resolveRange(
  query: { from?: string; to?: string; timezone?: string },
  nowMs: number,
): { range: TimeRange } | { problems: Problem[] } {
  const problems: Problem[] = []
  const requestedFrom = query.from === undefined ? undefined : parseDate(query.from)
  const requestedTo = query.to === undefined ? undefined : parseDate(query.to)
  const now = inZone(nowMs, query.timezone ?? 'UTC')
  if (requestedFrom === null) problems.push({ path: '/from', message: wrongDate })
  if (requestedTo === null) problems.push({ path: '/to', message: wrongDate })
  if (now === null) problems.push({ path: '/timezone', message: wrongZone })
  if (requestedFrom === null || requestedTo === null) return { problems }

  // If both dates are given, their order can be checked without the zone, so that one answer reports
  // everything.
  const to = requestedTo ?? (now ? notBeforeEarliest(now.toPlainDate()) : undefined)
  if (to === undefined) return { problems }
  const from = requestedFrom ?? notBeforeEarliest(to.subtract({ days: defaultDays - 1 }))
  const days = from.until(to).days + 1
  if (days < 1) {
    const end = requestedTo ? '"to"' : 'today, where the range ends without "to"'
    problems.push({ path: '/from', message: `Must not be after ${end}` })
  } else if (days > maxDays) {
    const message = `Must leave at most ${maxDays} days, from the first to the last`
    problems.push({ path: '/from', message })
  }
  if (now === null || problems.length > 0) return { problems }
  return { range: rangeOf(from, days, now.timeZoneId) }
}

const wrongDate = 'Must be a calendar date, YYYY-MM-DD, in the years 1970 to 9999'
/** The message for a zone that does not exist. */
export const wrongZone =
  'Must be the IANA name of a time zone, such as Europe/Berlin or UTC; offsets are not taken'

/** A zone with its name in the usual capitals; null if there is none with that name. */
export const zoneNamed = (name: string): string | null => inZone(0, name)?.timeZoneId ?? null

function rangeOf(from: Temporal.PlainDate, length: number, timezone: string): TimeRange {
  const days: RangeDay[] = []
  let date = from
  // The first instant of a date, not its midnight, because some zones put the clock forward at midnight. A
  // day ends where the next begins, so that the days tile the range.
  const startMs = date.toZonedDateTime(timezone).epochMilliseconds
  let endMs = startMs
  for (let i = 0; i < length; i++) {
    const next = date.add({ days: 1 })
    const nextMs = next.toZonedDateTime(timezone).epochMilliseconds
    days.push({ date: date.toString(), startMs: endMs, endMs: nextMs })
    date = next
    endMs = nextMs
  }
  return { from: days[0]!.date, to: days.at(-1)!.date, timezone, startMs, endMs, days }
}

/** `null` if the text is not an existing date. Temporal itself would also accept times and ±YYYYYY. */
function parseDate(text: string): Temporal.PlainDate | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return null
  try {
    const date = Temporal.PlainDate.from(text)
    return date.year < earliest.year ? null : date
  } catch {
    return null
  }
}

/**
 * The instant in the zone, whose `timeZoneId` has the usual capitals; `null` if the zone is unknown. Only
 * names are accepted, because Temporal would also accept offsets and whole date strings.
 */
function inZone(ms: number, name: string): Temporal.ZonedDateTime | null {
  if (!/^[a-z][a-z0-9_+/-]{0,63}$/i.test(name)) return null
  try {
    return Temporal.Instant.fromEpochMilliseconds(Math.floor(ms)).toZonedDateTimeISO(name)
  } catch {
    return null
  }
}

function notBeforeEarliest(date: Temporal.PlainDate): Temporal.PlainDate {
  return Temporal.PlainDate.compare(date, earliest) < 0 ? earliest : date
}
