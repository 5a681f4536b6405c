import { dayMs, hourMs, minuteMs } from '../time/durations.ts'
import type { Schedule } from './timing.ts'

/**
 * Converts local times to moments. Pages and server must get the same result, and browsers have no
 * `Temporal` yet, so it is computed from what `Intl` says about a zone's clocks.
 */

/** What the clocks of a zone show at a moment, read as if it were UTC. */
function clockAt(ms: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  const parts: Record<string, number> = {}
  for (const { type, value } of format.formatToParts(ms)) parts[type] = Number(value)
  const { year, month, day, hour, minute, second } = parts as Record<string, number>
  return Date.UTC(year!, month! - 1, day, hour, minute, second)
}

/** Whether a zone with this name exists. A browser may be older than the zone. */
export function isZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone })
    return true
  } catch {
    return false
  }
}

/**
 * The moment at which the clocks of a zone show a time, epoch milliseconds. If they show it twice, the
 * first moment. If they skip it, as long after the beginning of the gap as the time says (as `Temporal`
 * does with "compatible").
 *
 * @param local read as if it were UTC
 */
function momentOf(local: number, zone: string): number {
  if (!isZone(zone)) return local
  const [before, after] = [local - dayMs, local + dayMs].map(
    at => local - (clockAt(at, zone) - at),
  ) as [number, number]
  return clockAt(before, zone) === local || clockAt(after, zone) !== local ? before : after
}

/** Whether the calendar has this day. */
export const isDay = (local: string): boolean => {
  const day = local.slice(0, 10)
  const ms = Date.parse(`${day}T00:00Z`)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day)
}

/** A cache, because asking for a zone's clocks takes a while, and pages ask again and again. */
const known = new Map<string, number>()
const maxKnown = 2_000

/** @param days the moment is this many days later */
function moment(local: string, zone: string, days = 0): number {
  const name = `${local} ${zone} ${days}`
  const before = known.get(name)
  if (before !== undefined) return before
  if (known.size >= maxKnown) known.clear()
  const time = local.includes('T') ? local : `${local}T00:00`
  const at = momentOf(Date.parse(`${time}Z`) + days * dayMs, zone)
  known.set(name, at)
  return at
}

/** The times of a schedule, epoch milliseconds; `from` is inclusive, `to` exclusive. */
export const spanOf = ({ from, to, timezone }: Schedule): { from: number; to: number } => ({
  from: from === undefined ? Number.NEGATIVE_INFINITY : moment(from, timezone),
  // A `to` without a time is the last day, and is included whole.
  to: to === undefined ? Number.POSITIVE_INFINITY : moment(to, timezone, to.includes('T') ? 0 : 1),
})

const units: Record<string, number> = { m: minuteMs, h: hourMs, d: dayMs }

/** Milliseconds of a length of time such as 7d. */
export const spanMs = (span: string): number => Number.parseInt(span, 10) * units[span.slice(-1)]!
