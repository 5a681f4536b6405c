import type { StaticDecode } from '@sinclair/typebox'
import { nearestRank } from '../../core/number/statistics.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import { dayMs, minuteMs } from '../../core/time/durations.ts'
import { version } from '../../core/version.ts'
import { presenceStages } from '../../storage/interfaces/gate.ts'
import type {
  CountedSince,
  InstallationStores,
  Presence,
  SeenStore,
} from '../../storage/interfaces/installation.ts'
import { pinnedSnippet } from '../../web/snippet-files.ts'
import { type Found, findingsOf, isInstalled } from './findings.ts'
import type { Installation, SnippetStatus } from './schema.ts'

type Status = StaticDecode<typeof SnippetStatus>

const activeMs = 5 * minuteMs
const quietMs = dayMs

/** The state that follows from how long ago the snippet was last seen. */
function stateOf(lastSeenAt: number | null, now: number): Status['state'] {
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

async function statusOf(
  stores: InstallationStores,
  organisation: Organisation,
  presence: Presence,
  now: number,
  since: CountedSince | null,
): Promise<Omit<Status, 'findings'> & { findings: Found[] }> {
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
  const { firstSeenAt, lastSeenAt } = seenIn(presence)
  const isWrong = findings.some(({ severity }) => severity === 'error')
  return {
    state: isWrong ? 'misconfigured' : stateOf(lastSeenAt, now),
    installed: isInstalled(presence),
    firstSeenAt,
    lastSeenAt,
    stages: presenceStages.map(stage => {
      const { firstAt, lastAt } = presence.seen[stage] ?? { firstAt: null, lastAt: null }
      return { stage, firstAt, lastAt }
    }),
    snippetVersion: presence.snippetVersion,
    skewMsMedian,
    rejected24h: presence.rejections,
    findings,
  }
}

/** What pages may see: only codes and counts, because everybody who views a page has the key for this. */
export async function readStatus(
  stores: InstallationStores,
  organisation: Organisation,
  now: number,
): Promise<Status> {
  const presence = await stores.presence.read(organisation.ref, now)
  const { findings, ...status } = await statusOf(stores, organisation, presence, now, null)
  return { ...status, findings: findings.map(({ since, ...finding }) => finding) }
}

/**
 * The same, up to the last moment, with what pages need, and with reports about erased people, which no
 * page may see.
 */
export async function readInstallation(
  { stores, seen }: { stores: InstallationStores; seen: SeenStore },
  organisation: Organisation,
  now: number,
): Promise<Omit<StaticDecode<typeof Installation>, 'publicUrl'>> {
  await seen.write()
  const presence = await stores.presence.read(organisation.ref, now)
  const since = await stores.presence.since(organisation.ref, now)
  const status = await statusOf(stores, organisation, presence, now, since)
  const snippetKey = await seen.snippetKey(organisation.ref)
  return { ...status, snippetKey, snippet: pinnedSnippet, erased24h: presence.erased }
}
