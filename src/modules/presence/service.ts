import type { Catalogue, Organisation } from '../../core/catalogue.ts'
import { isoTime, isoTimeOrNull } from '../../core/clock.ts'
import { dayMs, minuteMs } from '../../core/durations.ts'
import { type Presence, presenceStages, type Stores } from '../../core/ports.ts'
import { nearestRank } from '../../core/quantile.ts'
import { version } from '../../core/version.ts'
import { findingsOf, isInstalled } from './findings.ts'
import type { SnippetStatus } from './model.ts'

const activeMs = 5 * minuteMs
const quietMs = dayMs

/** How long ago the snippet was last seen, in words. */
function stateOf(lastSeenAt: number | null, now: number): SnippetStatus['state'] {
  if (lastSeenAt === null) return 'never_seen'
  const age = now - lastSeenAt
  if (age <= activeMs) return 'active'
  return age <= quietMs ? 'quiet' : 'stale'
}

function seenIn(presence: Presence) {
  const seen = presenceStages.flatMap(stage => presence.seen[stage] ?? [])
  return {
    firstSeenAt: seen.length > 0 ? Math.min(...seen.map(({ firstAt }) => firstAt)) : null,
    lastSeenAt: seen.length > 0 ? Math.max(...seen.map(({ lastAt }) => lastAt)) : null,
  }
}

/** What the service asks of storage; the command line asks it without a server. */
export interface PresenceStores {
  catalogue(): Pick<Catalogue, 'publishedFlows' | 'oldKeysEndAt'>
  presence: Pick<Stores['presence'], 'read'>
}

export function presenceService({ stores }: { stores: PresenceStores }) {
  return {
    /** Codes and counts only: whoever views the page has the key that asks this. */
    async status(organisation: Organisation, now: number): Promise<SnippetStatus> {
      const presence = await stores.presence.read(organisation.row, now)
      const { firstSeenAt, lastSeenAt } = seenIn(presence)
      const skews = presence.skews.toSorted((a, b) => a - b)
      const skewMsMedian = nearestRank(skews, 0.5)
      const catalogue = stores.catalogue()
      const findings = findingsOf({
        presence,
        skewMsMedian,
        publishedFlows: catalogue.publishedFlows(organisation).count,
        oldKeysEndAt: catalogue.oldKeysEndAt(organisation),
        identity: organisation.identity,
        ownVersion: version,
        now,
      })
      const isWrong = findings.some(({ severity }) => severity === 'error')
      return {
        state: isWrong ? 'misconfigured' : stateOf(lastSeenAt, now),
        installed: isInstalled(presence),
        firstSeenAt: isoTimeOrNull(firstSeenAt),
        lastSeenAt: isoTimeOrNull(lastSeenAt),
        stages: presenceStages.map(stage => {
          const seen = presence.seen[stage]
          return {
            stage,
            firstAt: seen && isoTime(seen.firstAt),
            lastAt: seen && isoTime(seen.lastAt),
          }
        }),
        snippetVersion: presence.snippetVersion,
        skewMsMedian,
        rejected24h: presence.rejections,
        findings,
      }
    },
  }
}
