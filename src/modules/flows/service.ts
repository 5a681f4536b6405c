import { type CausedAt, msOf } from '../../core/event/caused.ts'
import type { PersonIds } from '../../core/event/event.ts'
import type { FlowHistory } from '../../core/flow/decision.ts'
import type { PublishedFlows } from '../../core/organisation/catalogue.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { isoTime } from '../../core/time/clock.ts'
import { hashOf, type PassingBody } from '../../http/encoded.ts'
import { toJson } from '../../http/management.ts'
import type { HistoryReader } from '../../storage/interfaces/flows.ts'
import { type FlowList, History } from './schema.ts'

/** The published flows with what a person has done with them. */
export async function withHistory(
  orgRef: OrganisationRef,
  flows: PublishedFlows,
  person: PersonIds,
  people: HistoryReader,
): Promise<PassingBody> {
  const { remembered } = flows
  const refs = remembered.map(({ ref }) => ref)
  const histories = await people.histories(orgRef, refs, person)
  const history: FlowList['history'] = {}
  for (const { ref, id } of remembered) {
    const ofFlow = histories.get(ref)
    if (ofFlow) history[id] = serializeHistory(ofFlow)
  }
  const events = flows.asksForEvents ? eventsOf(await people.caused(orgRef, person)) : null
  const more = JSON.stringify({ history, ...(events && { events }) })
  return {
    hash: `${flows.hash}.${hashOf(more)}`,
    // Fields follow the list, which is too long to be parsed for each person.
    get text() {
      return `${flows.text.slice(0, -1)},${more.slice(1)}`
    },
    isPassing: true,
  }
}

export const serializeHistory = ({ inProgress, ...history }: FlowHistory) =>
  toJson(History, history)

const eventsOf = (caused: ReadonlyMap<string, readonly CausedAt[]>): FlowList['events'] =>
  Object.fromEntries(
    [...caused].map(([name, times]) => [
      name,
      times.map(time => ({ at: isoTime(msOf(time)), mark: time[1] })),
    ]),
  )
