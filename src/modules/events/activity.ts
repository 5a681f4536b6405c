import type { OrganisationRef } from '../../core/reference.ts'
import type { Activity, JudgedEvent } from '../../storage/interfaces/events.ts'
import type { EventResult } from './schema.ts'
import type { NamedParts } from './verdict.ts'

/** How much of a text is shown, in UTF-16 units. Ids that can be stored are shown in full. */
const maxLength = { id: 64, person: 128, url: 300, message: 300 }

/** A text field of an event of any shape, cut to `max`; null if there is none. */
function textIn(sent: unknown, field: string, max: number): string | null {
  const text = (sent as Record<string, unknown> | null)?.[field]
  if (typeof text !== 'string' || text === '') return null
  return text.length <= max ? text : `${text.slice(0, max - 1).toWellFormed()}…`
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
      id: textIn(sent, 'id', maxLength.id),
      kind: textIn(sent, 'kind', maxLength.id),
      userId: textIn(sent, 'userId', maxLength.person),
      anonymousId: textIn(sent, 'anonymousId', maxLength.person),
      flowId: textIn(sent, 'flowId', maxLength.id),
      flowKey: isOurs ? flow.key : null,
      stepId: textIn(sent, 'stepId', maxLength.id),
      stepKey: ownStep?.flow.steps.get(ownStep.ref)?.key ?? null,
      name: textIn(sent, 'name', maxLength.id),
      url: textIn(sent, 'url', maxLength.url),
    })
  }

  /** @param results of the events that were not newly stored */
  judged(results: readonly EventResult[]): readonly JudgedEvent[] {
    for (const { index, status, code = null, message = null } of results) {
      const event = this.events[index]!
      const cut = message?.slice(0, maxLength.message) ?? null
      this.events[index] = { ...event, verdict: status, code, message: cut }
    }
    return this.events
  }
}

/** Without the IDs of people, for callers that may not see them. */
export const withoutPeople = ({ events, ...activity }: Activity): Activity => ({
  ...activity,
  events: events.map(event => ({ ...event, userId: null, anonymousId: null })),
})
