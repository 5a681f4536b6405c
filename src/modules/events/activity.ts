import type { OrganisationRef } from '../../core/reference.ts'
import { isoTime } from '../../core/time/clock.ts'
import type { Activity, JudgedEvent } from '../../storage/interfaces/events.ts'
import type { ActivityPage, EventResult } from './schema.ts'
import type { NamedParts } from './verdict.ts'

/** How much of a text is shown, in UTF-16 units. Ids that can be stored are shown in full. */
const longest = { id: 64, person: 128, url: 300, message: 300 }

/** A text field of an event of any shape, cut to `most`; null if there is none. */
function textIn(sent: unknown, field: string, most: number): string | null {
  const text = (sent as Record<string, unknown> | null)?.[field]
  if (typeof text !== 'string' || text === '') return null
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`
}

/** The events of a batch that somebody watches, kept until their verdicts are known. */
export class WatchedBatch {
  private readonly events: JudgedEvent[] = []

  constructor(
    private readonly orgRef: OrganisationRef,
    private readonly receivedAt: number,
  ) {}

  add(sent: unknown, { flow, step }: NamedParts): void {
    const isOurs = flow?.organisation.ref === this.orgRef
    const ownStep = step?.flow.organisation.ref === this.orgRef ? step : null
    this.events.push({
      receivedAt: this.receivedAt,
      verdict: 'accepted',
      code: null,
      message: null,
      id: textIn(sent, 'id', longest.id),
      kind: textIn(sent, 'kind', longest.id),
      userId: textIn(sent, 'userId', longest.person),
      anonymousId: textIn(sent, 'anonymousId', longest.person),
      flowId: textIn(sent, 'flowId', longest.id),
      flowKey: isOurs ? flow.key : null,
      stepId: textIn(sent, 'stepId', longest.id),
      stepKey: ownStep?.flow.steps.get(ownStep.ref)?.key ?? null,
      name: textIn(sent, 'name', longest.id),
      url: textIn(sent, 'url', longest.url),
    })
  }

  /** @param results of the events that were not newly stored */
  judged(results: readonly EventResult[]): readonly JudgedEvent[] {
    for (const { index, status, code = null, message = null } of results) {
      const event = this.events[index]!
      const cut = message?.slice(0, longest.message) ?? null
      this.events[index] = { ...event, verdict: status, code, message: cut }
    }
    return this.events
  }
}

/** @param namesPeople whether the caller may see people's ids */
export const activityPage = (activity: Activity, namesPeople: boolean): ActivityPage => ({
  ...activity,
  since: isoTime(activity.since),
  events: activity.events.map(({ receivedAt, userId, anonymousId, ...event }) => ({
    receivedAt: isoTime(receivedAt),
    ...event,
    userId: namesPeople ? userId : null,
    anonymousId: namesPeople ? anonymousId : null,
  })),
})
