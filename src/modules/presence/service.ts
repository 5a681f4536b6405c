import type { Organisation } from '../../core/catalogue.ts'
import { isoTime, isoTimeOrNull } from '../../core/clock.ts'
import { dayMs, minuteMs } from '../../core/durations.ts'
import { type Presence, presenceStages, type Stores } from '../../core/ports.ts'
import { nearestRank } from '../../core/quantile.ts'
import { findingsOf } from './findings.ts'

const activeMs = 5 * minuteMs
const quietMs = dayMs

export type PresenceState = 'never_seen' | 'active' | 'quiet' | 'stale' | 'misconfigured'

/** How long ago the snippet was last seen, in words. */
function stateOf(lastSeenAt: number | null, now: number): PresenceState {
  if (lastSeenAt === null) return 'never_seen'
  const age = now - lastSeenAt
  if (age <= activeMs) return 'active'
  return age <= quietMs ? 'quiet' : 'stale'
}

function seenIn(presence: Presence) {
  const seen = presenceStages.flatMap(stage => presence.stages[stage] ?? [])
  return {
    firstSeenAt: seen.length > 0 ? Math.min(...seen.map(({ firstAt }) => firstAt)) : null,
    lastSeenAt: seen.length > 0 ? Math.max(...seen.map(({ lastAt }) => lastAt)) : null,
  }
}

export function presenceService({ stores }: { stores: Stores }) {
  return {
    /** Codes and counts only: whoever views the page has the key that asks this. */
    async status(organisation: Organisation, now: number) {
      const presence = await stores.presence.read(organisation.row, now)
      const { firstSeenAt, lastSeenAt } = seenIn(presence)
      const skews = presence.skews.toSorted((a, b) => a - b)
      const skewMsMedian = nearestRank(skews, 0.5)
      const findings = findingsOf({ presence, skewMsMedian, now })
      const isWrong = findings.some(({ severity }) => severity === 'error')
      const { origin_not_allowed: _, ...rejected24h } = presence.refusals
      return {
        state: isWrong ? 'misconfigured' : stateOf(lastSeenAt, now),
        installed: presence.stages.flows_fetched !== null || presence.stages.heartbeat !== null,
        firstSeenAt: isoTimeOrNull(firstSeenAt),
        lastSeenAt: isoTimeOrNull(lastSeenAt),
        stages: presenceStages.map(stage => {
          const seen = presence.stages[stage]
          return {
            stage,
            firstAt: seen && isoTime(seen.firstAt),
            lastAt: seen && isoTime(seen.lastAt),
          }
        }),
        snippetVersion: presence.snippetVersion,
        skewMsMedian,
        rejected24h,
        findings,
      }
    },
  }
}
