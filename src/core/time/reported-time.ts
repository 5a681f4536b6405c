import { isClock, isDate, parseTime } from './rfc3339.ts'

/** The digits of a part of a text as a number; NaN if one of them is not a digit. */
function digitsAt(text: string, from: number, to: number): number {
  let number = 0
  for (let i = from; i < to; i++) {
    const digit = text.charCodeAt(i) - 48
    if (digit < 0 || digit > 9) return Number.NaN
    number = number * 10 + digit
  }
  return number
}

/**
 * Days from the epoch to a date of the Gregorian calendar, from year 1 on, at a quarter of the cost of
 * `Date.UTC`. Years begin in March here, so that the leap day is the last day of its year.
 */
function daysBefore(year: number, month: number, day: number): number {
  const shifted = month > 2 ? year : year - 1
  const leapDays = ((shifted / 4) | 0) - ((shifted / 100) | 0) + ((shifted / 400) | 0)
  const monthsSinceMarch = month > 2 ? month - 3 : month + 9
  const dayOfYear = ((153 * monthsSinceMarch + 2) / 5) | 0
  return shifted * 365 + leapDays + dayOfYear + day - 719_469
}

/**
 * Parses `2026-11-20T09:30:00.000Z`, the form that nearly every client sends, at a sixth of the cost of the
 * pattern; null for anything else, and for days and hours that do not exist.
 */
function defaultTime(text: string): number | null {
  if (text.length !== 24 || text[23] !== 'Z' || text[10] !== 'T' || text[19] !== '.') return null
  if (text[4] !== '-' || text[7] !== '-' || text[13] !== ':' || text[16] !== ':') return null
  const year = digitsAt(text, 0, 4)
  const month = digitsAt(text, 5, 7)
  const day = digitsAt(text, 8, 10)
  const hour = digitsAt(text, 11, 13)
  const minute = digitsAt(text, 14, 16)
  const second = digitsAt(text, 17, 19)
  const millisecond = digitsAt(text, 20, 23)
  // Comparisons with NaN are false. The pattern handles the rest: years before 100, and leap seconds.
  const isUsual = year >= 100 && isDate(year, month, day) && isClock(hour, minute)
  if (!(isUsual && second <= 59 && millisecond >= 0)) return null
  const hours = daysBefore(year, month, day) * 24 + hour
  return ((hours * 60 + minute) * 60 + second) * 1_000 + millisecond
}

/** `parseTime`, fast for the form that nearly every client sends. Used for events; pages do without it. */
export const parseReportedTime = (value: unknown): number | null =>
  (typeof value === 'string' ? defaultTime(value) : null) ?? parseTime(value)
