import { dayMs } from '../../core/time/durations.ts'
import type { Alert } from './port.ts'
import type { Observation, RuleName } from './rules.ts'

/** For how many looks in a row something has to be there before it is an alert, and gone before it is over. */
const looksToOpen = 2
const looksToResolve = 6
/** For each time that it was over within the last day, twice as many; at most so many. */
const mostLooksToResolve = 96

/** The most alerts of an organisation that are not over. */
const mostStanding = 200

export interface AfterLook {
  /** All that is to be written. */
  changed: Alert[]
  opened: Alert[]
  resolved: Alert[]
}

const keyOf = ({ rule, subject }: { rule: string; subject: string }) => `${rule} ${subject}`

/**
 * What alerts are after a look. Each opens once and is over once, and neither by one odd look; what comes
 * and goes is over later each time.
 *
 * @param known those that are not over, and those that were within the last day
 * @param watched rules that are on; alerts of the others end without a word
 */
export function afterLook(
  known: readonly Alert[],
  observed: readonly Observation[],
  watched: ReadonlySet<RuleName>,
  now: number,
  newAlertId: () => string,
): AfterLook {
  const after: AfterLook = { changed: [], opened: [], resolved: [] }
  const standing = known.filter(({ state }) => state !== 'resolved')
  const byKey = new Map(standing.map(alert => [keyOf(alert), alert]))
  const seen = new Set<string>()
  for (const observation of observed) {
    const key = keyOf(observation)
    if (seen.has(key)) continue
    seen.add(key)
    const alert = byKey.get(key)
    if (alert === undefined) {
      if (standing.length + after.changed.length >= mostStanding) continue
      const fresh = { state: 'pending', streak: 1, openedAt: null, resolvedAt: null } as const
      after.changed.push({ id: newAlertId(), ...observation, ...fresh })
    } else if (alert.state === 'open') {
      if (alert.streak > 0) after.changed.push({ ...alert, streak: 0 })
    } else if (alert.streak + 1 < looksToOpen) {
      after.changed.push({ ...alert, streak: alert.streak + 1 })
    } else {
      const { facts } = observation
      const opened: Alert = { ...alert, facts, state: 'open', streak: 0, openedAt: now }
      after.changed.push(opened)
      after.opened.push(opened)
    }
  }
  for (const alert of standing) {
    if (seen.has(keyOf(alert))) continue
    const isWatched = watched.has(alert.rule as RuleName)
    const isOver =
      alert.state === 'pending' || !isWatched || alert.streak + 1 >= looksOf(alert, known, now)
    if (!isOver) {
      after.changed.push({ ...alert, streak: alert.streak + 1 })
      continue
    }
    const resolved: Alert = { ...alert, state: 'resolved', streak: 0, resolvedAt: now }
    after.changed.push(resolved)
    if (alert.state === 'open' && isWatched) after.resolved.push(resolved)
  }
  return after
}

/** For how many looks it has to be gone. */
function looksOf(alert: Alert, known: readonly Alert[], now: number): number {
  const before = known.filter(
    other =>
      other.state === 'resolved' &&
      keyOf(other) === keyOf(alert) &&
      (other.resolvedAt ?? 0) > now - dayMs,
  )
  return Math.min(mostLooksToResolve, looksToResolve * 2 ** before.length)
}
