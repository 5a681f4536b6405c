import type { RejectionCode } from '../../core/event/event.ts'
import type { Bucket } from '../../core/organisation/limits.ts'
import {
  rejectedShare,
  rejectsMany,
  type VerifiedIdentity,
} from '../../core/organisation/verified-identity.ts'
import { dayMs, lasting, minuteMs } from '../../core/time/durations.ts'
import type { CountedSince, Presence } from '../../storage/interfaces/installation.ts'
import type { InstallationFinding } from './schema.ts'

/** What findings are made from. */
export interface Evidence {
  presence: Presence
  skewMsMedian: number | null
  /** How many published flows the organisation has. */
  publishedFlows: number
  /** When the last of its rotated keys stops or stopped working; null if none was rotated. */
  oldKeysEndAt: number | null
  /** Null if hashes of user ids are not checked. */
  identity: Pick<VerifiedIdentity, 'isEnforced'> | null
  /** The version of this server, and so of the snippet that it serves. */
  ownVersion: string
  now: number
  /** Null if the caller does not ask since when. */
  since: CountedSince | null
}

/** A finding, and when it began, epoch milliseconds; null if unknown. */
export type Found = InstallationFinding & { since: number | null }

/** Whether a page with the snippet was ever seen. */
export const isInstalled = ({ seen }: Presence) =>
  seen.flows_fetched !== null || seen.heartbeat !== null

/** Clocks that are off by no more than this count as right. */
const farOffMs = minuteMs
/** How long after the end of a rotation silence does not mean anything. */
const settlingMs = 5 * minuteMs
/** How many of the latest batches must have a clock that is far off for this to be reported. */
const minFarOff = 3
/** Fewer batches say nothing about the server's clock, because one may be an example that was sent by hand. */
const minBatches = 5

/** Whether most of at least a handful of batches are off by the same amount, within a minute. */
function isAgreed(skews: readonly number[], skewMsMedian: number): boolean {
  const agreeing = skews.filter(skew => Math.abs(skew - skewMsMedian) <= farOffMs).length
  return skews.length >= minBatches && agreeing > skews.length / 2
}

/** Semantic Versioning 2.0.0: the three numbers, with or without what may follow them. */
const semanticVersion = /^\d{1,9}\.\d{1,9}\.\d{1,9}(?:[-+][0-9A-Za-z.+-]+)?$/

/** What to do about events that were rejected with a code. */
const remedies: Record<RejectionCode, string> = {
  invalid:
    'Look at the results of POST /events: the message of each names the field and what it must be.',
  unknown_flow:
    'Take flow ids from GET /flows, not from a file or another installation; a draft must be published first: "cairn flows publish KEY".',
  unknown_step:
    "Send each step's own id with the id of the flow that it is in, both as GET /flows gives them.",
  unknown_item:
    "Send each item's own id with the id of the flow that it is in, both as GET /flows gives them.",
  unauthorized:
    'A page mixes two organisations: use ids that GET /flows gave for the same snippet key. Or identities are verified, and the userHash beside the userId is wrong or missing.',
  too_old:
    'Send events within the days that the server accepts (CAIRN_RETENTION_DAYS), and occurredAt in milliseconds: seconds end up in 1970.',
  too_large: 'Send less in properties: at most 32 keys, 8 levels and 8 KiB of JSON.',
  storage:
    "The database rejected these events. The reason is in the server's log and in the dead letters.",
}

/** What to do when a limit is reached. The operator can raise any of them. */
const fewerRequests: Partial<Record<Bucket, string>> = {
  events: 'Send events in batches of up to 50',
  flows: 'Keep the flows for a minute, and then ask with If-None-Match',
  heartbeat: 'Wait for nextHeartbeatSeconds between two heartbeats',
}

const finding =
  (severity: Found['severity']) =>
  (code: Found['code'], message: string, fix: string, since: number | null = null): Found => ({
    ...{ severity, code, since, message, fix },
  })
const info = finding('info')
const warning = finding('warning')
const error = finding('error')

/** One rule for each kind of problem. */
const rules: ((evidence: Evidence) => Found | readonly Found[] | null)[] = [
  ({ presence }) => {
    if (isInstalled(presence) || presence.rejectedOrigins > 0) return null
    const used = presence.seen.key_used
    const message = used
      ? 'Only a back end uses the key: no page has fetched flows or sent a heartbeat.'
      : 'No page and no back end has used the key yet.'
    const fix = 'Open a page with the snippet and this key, and check again.'
    return info('snippet_not_seen', message, fix, used?.firstAt)
  },

  ({ presence, publishedFlows }) =>
    isInstalled(presence) && publishedFlows === 0
      ? warning(
          'nothing_published',
          'The snippet is installed, but no flow is published: pages have nothing to show.',
          'Publish one: "cairn flows push FILE", then "cairn flows publish KEY".',
        )
      : null,

  ({ presence: { seen, rejections }, publishedFlows }) => {
    // Without a flow to show, there is nothing to report.
    if (!seen.flows_fetched || seen.events_flowing || publishedFlows === 0) return null
    const [message, fix] =
      Object.keys(rejections).length > 0
        ? [
            'Flows are fetched, but every event so far was rejected.',
            'Fix the reasons for which events are rejected, listed below.',
          ]
        : [
            'Flows are fetched, but no event has arrived.',
            'Open a page on which a published flow is shown, and look for failed requests to /events in its network log.',
          ]
    return warning('no_events', message!, fix!, seen.flows_fetched.firstAt)
  },

  ({ presence, since }) => {
    if (presence.rejectedOrigins === 0) return null
    // If nothing ever got through, the list is not merely too strict for a single page.
    return (isInstalled(presence) ? warning : error)(
      'origin_not_allowed',
      `Requests from an origin that is not allowed in the last 24 hours: ${presence.rejectedOrigins}.`,
      'Compare the page\'s origin with the origins in "cairn org settings"; set the whole list with "cairn org set origins ORIGIN…", or allow all with "cairn org unset origins".',
      since?.rejectedOrigins,
    )
  },

  ({ presence: { rejections }, since }) =>
    (Object.entries(rejections) as [RejectionCode, number][])
      .sort(([, a], [, b]) => b - a)
      .map(([code, count]) => {
        const message = `Events rejected as ${code} in the last 24 hours: ${count}.`
        return warning('events_rejected', message, remedies[code], since?.rejections[code])
      }),

  ({ presence: { userHashes }, identity, since }) => {
    if (!identity?.isEnforced || !rejectsMany(userHashes)) return null
    const { rejected, all } = rejectedShare(userHashes)
    const { invalid, missing } = userHashes
    // If some hashes are right, the others may come from somebody who makes up ids.
    return (rejected === all ? error : warning)(
      'identity_refused',
      `Of ${all} requests and events that named a user in the last 24 hours, ${rejected} had no valid userHash: ${invalid} wrong, ${missing} missing.`,
      'Have your back end make each hash with the current secret, and send it with every userId. "cairn org identity show" shows the counts by hour; "cairn org set identityMode observe" stops rejecting them meanwhile.',
      since?.wrongHashes,
    )
  },

  ({ presence: { limitedMinutes }, since }) =>
    (Object.entries(limitedMinutes) as [Bucket, number][]).map(([bucket, minutes]) => {
      const often = minutes === 1 ? 'one minute' : `${minutes} minutes`
      const advice = fewerRequests[bucket] ?? 'Send fewer requests'
      return warning(
        'limit_reached',
        `Requests over the limit of ${bucket} were rejected (429) in ${often} of the last 24 hours.`,
        `${advice}, or raise the limit: "cairn org set limits.${bucket} N".`,
        since?.limited[bucket],
      )
    }),

  ({ presence: { seen }, oldKeysEndAt, now }) => {
    const used = seen.old_key_used
    if (!used || oldKeysEndAt === null || used.lastAt < now - dayMs) return null
    const isOver = oldKeysEndAt <= now
    // Nobody has tried since, so the pages that had the old key were fixed in time.
    if (isOver && used.lastAt < oldKeysEndAt) return null
    // Only the old key has been used since, although there was enough time to replace it.
    const isCut = now - oldKeysEndAt > settlingMs && (seen.key_used?.lastAt ?? 0) < oldKeysEndAt
    const end = lasting(Math.abs(oldKeysEndAt - now))
    return (isCut ? error : warning)(
      'old_key_used',
      `A snippet key from before a rotation is still in use, last ${lasting(now - used.lastAt)} ago; ${isOver ? `it has been rejected for ${end}` : `it works for another ${end}`}.`,
      'Put the current key, "cairn key show --org ORG", wherever the old one is used: pages, back ends and their caches.',
      used.firstAt,
    )
  },

  ({ presence: { skews }, skewMsMedian: median }) => {
    const farOff = skews.filter(skew => Math.abs(skew) > farOffMs).length
    const share = `${farOff} of the last ${skews.length} batches`
    if (median !== null && Math.abs(median) > farOffMs && isAgreed(skews, median)) {
      const side = median > 0 ? 'behind' : 'ahead of'
      return warning(
        'clock_skew',
        `Senders' clocks are ${lasting(Math.abs(median))} ${side} the server's at the median: ${share} are off by over a minute.`,
        "Sync the server's clock with NTP. If it is right, and a single back end sends the batches, sync that one's. Meanwhile, times are corrected by sentAt.",
      )
    }
    if (farOff < minFarOff) return null
    return info(
      'sender_clock_skew',
      `Some senders' clocks are off by over a minute: ${share}.`,
      'Browsers need nothing: times are corrected by sentAt. Sync the clock of a back end with NTP, and have it send the current time as sentAt.',
    )
  },

  ({ presence: { snippetVersion }, ownVersion }) => {
    // A server that runs from source has no version to compare with.
    if (snippetVersion === null || !semanticVersion.test(ownVersion)) return null
    if (!semanticVersion.test(snippetVersion)) {
      return info(
        'snippet_version_unknown',
        "The last heartbeat's v is not a version number, such as 1.4.0.",
        `Have the page send its snippet's version as v; this server is ${ownVersion}.`,
      )
    }
    if (Bun.semver.order(snippetVersion, ownVersion) >= 0) return null
    return warning(
      'snippet_outdated',
      `The last heartbeat came from snippet ${snippetVersion}, and this server is ${ownVersion}.`,
      "Update the page's snippet to this server's release, and reload pages that were open during the upgrade.",
    )
  },
]

/** Everything that the evidence shows, in a fixed order. */
export function findingsOf(evidence: Evidence): Found[] {
  return rules.flatMap(rule => rule(evidence) ?? [])
}
