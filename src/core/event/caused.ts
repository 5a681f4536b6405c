import { hash32 } from '../number/hash32.ts'
import { minuteMs } from '../time/durations.ts'

/**
 * When a person caused an event that a flow waits for: minutes since 1970, and a mark of the event. With
 * the mark, a page that has reported the event itself does not count it twice.
 */
export type CausedAt = readonly [minute: number, mark: string]

/** @param at epoch milliseconds */
export const causedAt = (id: string, at: number): CausedAt => [
  Math.floor(at / minuteMs),
  hash32(id).toString(36),
]

/**
 * The union of both, latest first, at most `max` entries. The result does not depend on the order in which
 * lists are joined. If two clocks give different times for one event, the earlier time counts.
 */
export function mergeCaused(
  times: readonly CausedAt[],
  others: readonly CausedAt[],
  max: number,
): readonly CausedAt[] {
  const byMark = new Map<string, number>()
  for (const [minute, mark] of [...times, ...others]) {
    byMark.set(mark, Math.min(minute, byMark.get(mark) ?? minute))
  }
  const all = [...byMark].map(([mark, minute]): CausedAt => [minute, mark])
  return all.sort((a, b) => b[0] - a[0] || (a[1] < b[1] ? -1 : 1)).slice(0, max)
}

/** The time as `Moment.events` has it. */
export const msOf = ([minute]: CausedAt): number => minute * minuteMs
