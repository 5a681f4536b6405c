import { hash32 } from '../number/hash32.ts'
import { minuteMs } from '../time/durations.ts'

/**
 * When a person caused an event that a flow waits for: minutes since 1970, and a mark of the event, by
 * which a page that has reported it itself does not count it twice.
 */
export type CausedAt = readonly [minute: number, mark: string]

/** @param at epoch milliseconds */
export const causedAt = (id: string, at: number): CausedAt => [
  Math.floor(at / minuteMs),
  hash32(id).toString(36),
]

/**
 * All that either knows, the latest first, and no more of it than is asked for: whatever the order in
 * which it is joined, the same. Of one event two clocks may tell: then the earlier time stands.
 */
export function joined(
  times: readonly CausedAt[],
  others: readonly CausedAt[],
  most: number,
): readonly CausedAt[] {
  const byMark = new Map<string, number>()
  for (const [minute, mark] of [...times, ...others]) {
    byMark.set(mark, Math.min(minute, byMark.get(mark) ?? minute))
  }
  const all = [...byMark].map(([mark, minute]): CausedAt => [minute, mark])
  return all.sort((a, b) => b[0] - a[0] || (a[1] < b[1] ? -1 : 1)).slice(0, most)
}

/** As `Moment.events` has it. */
export const msOf = ([minute]: CausedAt): number => minute * minuteMs
