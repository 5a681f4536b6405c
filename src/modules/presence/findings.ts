import { minuteMs } from '../../core/durations.ts'
import type { Presence } from '../../core/ports.ts'

/** What is wrong with an installation, and what to do about it. */
export interface Finding {
  severity: 'info' | 'warning' | 'error'
  code: string
  message: string
  fix: string
}

const farOffMs = minuteMs

interface Evidence {
  presence: Presence
  skewMsMedian: number | null
  now: number
}

/** One rule a finding; each reads the evidence and speaks or is silent. */
const rules: ((evidence: Evidence) => Finding | null)[] = [
  ({ presence: { stages } }) =>
    stages.flows_fetched || stages.heartbeat
      ? null
      : {
          severity: 'info',
          code: 'snippet_not_seen',
          message: 'No page with the snippet has fetched flows or sent a heartbeat yet.',
          fix: 'Put the snippet with this key on a page, open the page, and ask again.',
        },
  ({ presence: { stages } }) =>
    !stages.flows_fetched || stages.events_flowing
      ? null
      : {
          severity: 'warning',
          code: 'no_events',
          message: 'Flows are fetched, but no event was ever accepted.',
          fix: 'Show a published flow on a page, and look for refused requests in its network log.',
        },
  ({ presence: { refusals, stages } }) =>
    refusals.origin_not_allowed
      ? {
          // Where nothing ever got through, the list is not merely stricter than one page.
          severity: stages.flows_fetched || stages.heartbeat ? 'warning' : 'error',
          code: 'origin_not_allowed',
          message: `Requests of the last 24 hours came from an origin that is not allowed: ${refusals.origin_not_allowed}.`,
          fix: 'Add the page’s origin to the organisation’s origins, or clear the list.',
        }
      : null,
  ({ presence: { refusals } }) => {
    const { origin_not_allowed: _, ...byCode } = refusals
    const codes = Object.entries(byCode).sort((a, b) => b[1] - a[1])
    const worst = codes[0]
    return worst
      ? {
          severity: 'warning',
          code: 'events_rejected',
          message: `Events were rejected in the last 24 hours, most often as ${worst[0]} (${worst[1]}).`,
          fix: 'Read the results of POST /events: each rejected event has a code and a message.',
        }
      : null
  },
  ({ skewMsMedian }) =>
    skewMsMedian !== null && Math.abs(skewMsMedian) > farOffMs
      ? {
          severity: 'warning',
          code: 'clock_skew',
          message: `Senders’ clocks differ from the server’s by ${Math.round(skewMsMedian / 1000)} s in the middle.`,
          fix: 'Check the clock of the server; where it is right, times are corrected by sentAt.',
        }
      : null,
]

/** Everything that the evidence shows, in a fixed order. */
export function findingsOf(evidence: Evidence): Finding[] {
  return rules.flatMap(rule => rule(evidence) ?? [])
}
