import { session } from '../api/session.ts'

/** The zone of this browser. */
export const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** The zone where the address names none: that of the organisation, else this browser's. */
export const usualZone = (): string => session.value?.timezone ?? browserZone

export const dayMs = 86_400_000

const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))

/** The calendar day of a moment in a zone; in UTC where there is no such zone, of which the API tells. */
export function dayIn(timeZone: string, at = Date.now()): string {
  try {
    return new Intl.DateTimeFormat('en-CA', { timeZone }).format(at)
  } catch {
    return new Date(at).toISOString().slice(0, 10)
  }
}

/** A day so many days after another, or before; what is no day stays as it is. */
export const addDays = (day: string, days: number): string =>
  isDay(day) ? new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10) : day

/** How many days a range has, both ends included; 0 where that cannot be said. */
export function daysOf(from: string, to: string): number {
  if (!isDay(from) || !isDay(to)) return 0
  return Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / dayMs) + 1)
}
