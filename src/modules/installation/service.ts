import { nearestRank } from '../../core/number/statistics.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import { isoTime, isoTimeOrNull } from '../../core/time/clock.ts'
import { dayMs, minuteMs } from '../../core/time/durations.ts'
import { version } from '../../core/version.ts'
import {
  type CountedSince,
  type InstallationStores,
  type Presence,
  presenceStages,
  type SeenStore,
} from '../../storage/interfaces/installation.ts'
import { pinnedSnippet } from '../../web/snippet-files.ts'
import { type Found, findingsOf, isInstalled } from './findings.ts'
import type { Installation, SnippetStatus } from './schema.ts'

const activeMs = 5 * minuteMs
const quietMs = dayMs

/** The state that follows from how long ago the snippet was last seen. */
function stateOf(lastSeenAt: number | null, now: number): SnippetStatus['state'] {
  if (lastSeenAt === null) return 'never_seen'
  const age = now - lastSeenAt
  if (age <= activeMs) return 'active'
  return age <= quietMs ? 'quiet' : 'stale'
}

/** When any page, or a back end, was first and last seen. */
export function seenIn(presence: Presence) {
  const seen = presenceStages.flatMap(stage => presence.seen[stage] ?? [])
  return {
    firstSeenAt: seen.length > 0 ? Math.min(...seen.map(({ firstAt }) => firstAt)) : null,
    lastSeenAt: seen.length > 0 ? Math.max(...seen.map(({ lastAt }) => lastAt)) : null,
  }
}

export function installationService(deps: {
  stores: InstallationStores
  seen: SeenStore
  publicUrl: string | null
}) {
  const { stores, seen, publicUrl } = deps
  const statusOf = async (
    organisation: Organisation,
    presence: Presence,
    now: number,
    since: CountedSince | null,
  ): Promise<Omit<SnippetStatus, 'findings'> & { findings: Found[] }> => {
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
      since,
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
  }

  return {
    /** Only codes and counts, because everybody who views a page has the key for this. */
    async status(organisation: Organisation, now: number): Promise<SnippetStatus> {
      const presence = await stores.presence.read(organisation.ref, now)
      const { findings, ...status } = await statusOf(organisation, presence, now, null)
      return { ...status, findings: findings.map(({ since: _, ...finding }) => finding) }
    },

    /**
     * The same, up to the last moment, with what pages need, and with reports about erased people, which no
     * page may see.
     */
    async installation(organisation: Organisation, now: number): Promise<Installation> {
      await seen.write()
      const presence = await stores.presence.read(organisation.ref, now)
      const since = await stores.presence.since(organisation.ref, now)
      const { findings, ...status } = await statusOf(organisation, presence, now, since)
      return {
        ...status,
        findings: findings.map(({ since, ...finding }) => ({
          ...finding,
          since: isoTimeOrNull(since),
        })),
        snippetKey: await seen.snippetKey(organisation.ref),
        snippet: pinnedSnippet,
        publicUrl,
        erased24h: presence.erased,
      }
    },
  }
}
