import { idsOf, type PersonIds } from '../../core/event/event.ts'
import { noHistory } from '../../core/flow/decision.ts'
import type { FlowEntry, Organisation } from '../../core/organisation/catalogue.ts'
import { isoTime, isoTimeOrNull } from '../../core/time/clock.ts'
import { toJson } from '../../http/management.ts'
import type {
  AllFlows,
  MetStores,
  PeopleList,
  PeopleStore,
} from '../../storage/interfaces/people.ts'
import { newestDefinition } from '../authoring/rules.ts'
import { serializeHistory } from '../flows/service.ts'
import { listedTraits } from './list.ts'
import { PersonEvent, type PersonHistory } from './schema.ts'
import { type EitherId, namedPerson } from './service.ts'
import { namedEvent } from './timeline.ts'

export interface HistoryDeps {
  stores: MetStores
  flows: AllFlows
  people: PeopleStore
  list: PeopleList
}

/**
 * The flows that a person has met, and a page of their events.
 *
 * @throws AppError `validation_failed` if both ids are named, or neither
 */
export async function historyOf(
  organisation: Organisation,
  { before, limit, ...ids }: EitherId & { before: string | null; limit: number },
  deps: HistoryDeps,
): Promise<PersonHistory> {
  const named = namedPerson(organisation, ids)
  const person = idsOf(named.person)
  const flows = await metFlows(organisation, person, deps)
  const listed = await deps.list.person(organisation.ref, named.person)
  const profile = listed && {
    firstSeenAt: isoTime(listed.firstAt),
    lastSeenAt: isoTime(listed.lastAt),
    traits: listedTraits(organisation, listed),
    pages: listed.pages.map(({ url, at }) => ({ url, lastSeenAt: isoTime(at) })),
  }
  const { events: logged, next } = await deps.people.events(named, before, limit)
  const catalogue = deps.stores.catalogue()
  const events = logged.map(event => toJson(PersonEvent, namedEvent(event, catalogue)))
  return { person, profile, flows, events, next }
}

/** The flows that a person has run or completed, or of which they have ticked an item. */
async function metFlows(
  organisation: Organisation,
  person: PersonIds,
  { stores, flows: store }: HistoryDeps,
): Promise<PersonHistory['flows']> {
  const { flows } = await store.read(organisation.ref)
  const catalogue = stores.catalogue()
  const entries = flows.map(({ id }) => catalogue.flow(id))
  const refs = entries.flatMap(entry => entry?.ref ?? [])
  const histories = await stores.people.histories(organisation.ref, refs, person)
  const progressOf = async (entry: FlowEntry) => {
    const { ticked, completedAt } = await stores.checklists.progress(
      organisation.ref,
      entry.ref,
      person,
    )
    const items = (entry.latest?.checklist?.items ?? []).map(({ id, key, title }) => {
      const ref = entry.itemRefs.get(id)
      const at = (ref === undefined ? null : ticked.get(ref)) ?? null
      return { key, title, completedAt: isoTimeOrNull(at) }
    })
    return { items, flowCompletedAt: isoTimeOrNull(completedAt) }
  }
  const met: PersonHistory['flows'] = []
  for (const [i, flow] of flows.entries()) {
    const entry = entries[i]
    if (!entry || entry.versions.length === 0) continue
    const history = histories.get(entry.ref) ?? noHistory
    const progress = await progressOf(entry)
    const isTicked = progress.items.some(({ completedAt }) => completedAt !== null)
    if (history.runs === 0 && !isTicked && progress.flowCompletedAt === null) continue
    const { key, name, kind } = newestDefinition(flow)
    const { inProgress } = history
    met.push({
      ...{ flowId: flow.id, flowKey: key, name, kind },
      ...serializeHistory(history),
      inProgress,
      ...progress,
    })
  }
  return met.sort((a, b) => (b.startedAt ?? '').localeCompare(a.startedAt ?? ''))
}
