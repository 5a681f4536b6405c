import type { Traits } from '../event/traits.ts'
import { isInAudience } from './audience-match.ts'
import { type FlowHistory, noHistory } from './decision.ts'
import type { Flow } from './flow.ts'
import { isForPerson, momentConditions, newcomer } from './moment.ts'

/** An announcement of one person. */
export interface Announced {
  flow: Flow
  isUnread: boolean
}

/** Who looks, and when. */
export interface Reader {
  /** What they have done with flows, by flow id. */
  past: Readonly<Record<string, FlowHistory>>
  traits: Traits
  /** As `personOf` names them. */
  person: string
  /** By the server's clock, epoch milliseconds. */
  now: number
}

/**
 * The announcements that are for a person, newest first. One stays in the list after it was read, until its
 * schedule ends. One that still waits for something, such as an event, is not listed before the person has
 * seen it. It is unread as long as no run of it has begun, in whatever browser.
 */
export function announcementsFor(
  flows: readonly Flow[],
  { past, traits, person, now }: Reader,
): Announced[] {
  const completed = flows.filter(({ id }) => (past[id] ?? noHistory).completedAt !== null)
  const moment = { ...newcomer(now), person, completed: new Set(completed.map(({ key }) => key)) }
  return flows
    .filter(flow => {
      if (flow.kind !== 'announcement' || !isInAudience(flow.targeting.audience, traits))
        return false
      if (!momentConditions.schedule(flow, moment)) return false
      return (past[flow.id]?.runs ?? 0) > 0 || isForPerson(flow, moment)
    })
    .map(flow => ({ flow, isUnread: (past[flow.id]?.runs ?? 0) === 0 }))
    .sort(({ flow: a }, { flow: b }) =>
      a.publishedAt === b.publishedAt
        ? Number(a.key > b.key) - Number(a.key < b.key)
        : a.publishedAt < b.publishedAt
          ? 1
          : -1,
    )
}
