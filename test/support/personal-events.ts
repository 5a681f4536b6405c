import type { RefEvent } from './analytics-reference.ts'

/** Texts that occur nowhere else, so that all files can be searched for them. */
let made = 0
const unique = (name: string) => `${name}~${(++made).toString(36).padStart(6, '0')}q7`

/**
 * A history's events with such texts. Several people may share a run's id. No two events share a moment,
 * so that no two runs begin at the same one.
 */
export function personalEvents<Event extends object>(
  events: readonly RefEvent[],
  eventOf: (event: RefEvent, id: string) => Event,
) {
  const names = new Map<string, string>()
  const named = (kind: string, name: string) => {
    const known = names.get(`${kind} ${name}`) ?? unique(kind)
    names.set(`${kind} ${name}`, known)
    return known
  }
  return events.map((event, i) => {
    const owner = event.userId ?? event.anonymousId
    const { userId, anonymousId, runId, sessionId } = event
    return {
      ...eventOf({ ...event, at: event.at + i }, unique('event')),
      userId: userId === undefined ? null : named('user', userId),
      anonymousId: anonymousId === undefined ? null : named('browser', anonymousId),
      runId: runId === undefined ? null : named('run', runId),
      sessionId: sessionId === undefined ? null : named('session', `${owner} ${sessionId}`),
      url: unique('https://page'),
      reason: unique('reason'),
      properties: JSON.stringify({ plan: unique('property') }),
      traits: event.kind === 'flow_started' ? JSON.stringify({ plan: unique('trait') }) : null,
    }
  })
}
