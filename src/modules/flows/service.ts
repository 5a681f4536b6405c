import { type CausedAt, msOf } from '../../core/event/caused.ts'
import type { PersonIds } from '../../core/event/stored-event.ts'
import type { FlowHistory } from '../../core/flow/decision.ts'
import type { PublishedFlows } from '../../core/organisation/catalogue.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { isoTime, isoTimeOrNull } from '../../core/time/clock.ts'
import type { PassingBody } from '../../http/encoded.ts'
import type { PublishedFlowStores } from '../../storage/interfaces/flows.ts'
import type { FlowList, History } from './schema.ts'

/** The published flows with what a person has done with them. */
export async function withHistory(
  orgRef: OrganisationRef,
  flows: PublishedFlows,
  person: PersonIds,
  { people }: Pick<PublishedFlowStores, 'people'>,
): Promise<PassingBody> {
  const { remembered } = flows
  const refs = remembered.map(({ ref }) => ref)
  const histories = await people.histories(orgRef, refs, person)
  const history: FlowList['history'] = {}
  for (const { ref, id } of remembered) {
    const ofFlow = histories.get(ref)
    if (ofFlow) history[id] = asTold(ofFlow)
  }
  const events = flows.asksForEvents ? asEvents(await people.caused(orgRef, person)) : null
  const more = events ? `,"events":${JSON.stringify(events)}` : ''
  const text = `"history":${JSON.stringify(history)}${more}`
  return {
    hash: `${flows.hash}.${Bun.hash.xxHash64(text).toString(36)}`,
    // Drops the closing brace of the list, so that more fields can follow.
    get text() {
      return `${flows.text.slice(0, -1)},${text}}`
    },
    isPassing: true,
  }
}

const asEvents = (caused: ReadonlyMap<string, readonly CausedAt[]>): FlowList['events'] =>
  Object.fromEntries(
    [...caused].map(([name, times]) => [
      name,
      times.map(time => ({ at: isoTime(msOf(time)), mark: time[1] })),
    ]),
  )

export const asTold = (history: FlowHistory): History => ({
  runs: history.runs,
  startedAt: isoTimeOrNull(history.startedAt),
  completedAt: isoTimeOrNull(history.completedAt),
  dismissedAt: isoTimeOrNull(history.dismissedAt),
  openRunId: history.openRunId,
})
