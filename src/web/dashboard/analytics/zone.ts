import { dayMs } from '../../../core/time/durations.ts'
import { session } from '../api/session.ts'
import { formatDateTime, zoneName } from '../parts/format.ts'

/** The time zone of this browser. */
export const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** The time zone of days if the address names none: the organisation's, else this browser's. */
export const defaultZone = (): string => session.value?.timezone ?? browserZone

/** A moment in the reader's zone. */
export const momentHere = (iso: string): string => formatDateTime(iso, browserZone)

/** The same moment in the organisation's zone, for its tip; undefined if that is the reader's. */
export const momentThere = (iso: string): string | undefined => {
  const zone = defaultZone()
  return zone === browserZone ? undefined : `${formatDateTime(iso, zone)} in ${zoneName(zone)}`
}

const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))

/** The calendar day of a moment in a time zone; in UTC if the zone is unknown, which the API reports. */
export function dayIn(timeZone: string, at = Date.now()): string {
  try {
    return new Intl.DateTimeFormat('en-CA', { timeZone }).format(at)
  } catch {
    return new Date(at).toISOString().slice(0, 10)
  }
}

/** The day that many days later, or earlier if negative. Anything that is not a day stays as it is. */
export const addDays = (day: string, days: number): string =>
  isDay(day) ? new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10) : day

/** The number of days in a range, both ends included; 0 if an end is not a day. */
export function daysOf(from: string, to: string): number {
  if (!isDay(from) || !isDay(to)) return 0
  return Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / dayMs) + 1)
}
