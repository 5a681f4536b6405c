import { dayMs } from '../../core/time/durations.ts'
import type { Alert } from '../../storage/interfaces/alerts.ts'
import type { Observation, RuleName } from './rules.ts'

/** How many looks in a row must see a problem before it opens an alert, and must miss it before it resolves. */
const looksToOpen = 2
const looksToResolve = 6
/** Doubled for each time that the alert was resolved within the last day, up to this many. */
const maxLooksToResolve = 96

/** The most alerts of an organisation that are not resolved. */
const maxStanding = 200

export interface AfterLook {
  /** All that is to be written. */
  changed: Alert[]
  opened: Alert[]
  resolved: Alert[]
}

const keyOf = ({ rule, subject }: { rule: string; subject: string }) => `${rule} ${subject}`

/**
 * The alerts after a look. Each opens once and resolves once, and one odd look is enough for neither. An
 * alert that comes and goes takes longer to resolve each time.
 *
 * @param known those that are not resolved, and those that were resolved within the last day
 * @param watched rules that are on; alerts of other rules end without a message
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
      if (standing.length + after.changed.length >= maxStanding) continue
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

/** How many looks in a row must miss it before it resolves. */
function looksOf(alert: Alert, known: readonly Alert[], now: number): number {
  const before = known.filter(
    other =>
      other.state === 'resolved' &&
      keyOf(other) === keyOf(alert) &&
      (other.resolvedAt ?? 0) > now - dayMs,
  )
  return Math.min(maxLooksToResolve, looksToResolve * 2 ** before.length)
}
