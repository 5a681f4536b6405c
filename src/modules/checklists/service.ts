import { invalid } from '../../core/errors.ts'
import type { PersonIds } from '../../core/event/event.ts'
import { quotient } from '../../core/number/statistics.ts'
import { type FlowEntry, oldestAccepted } from '../../core/organisation/catalogue.ts'
import type { ItemRef } from '../../core/reference.ts'
import { type Clock, isoTimeOrNull } from '../../core/time/clock.ts'
import type { ChecklistStores } from '../../storage/interfaces/checklists.ts'
import type { Progress, ProgressBody } from './schema.ts'

export interface ChecklistDeps {
  stores: ChecklistStores
  clock: Clock
  retentionDays: number
}

/** The name that the caller used, to be repeated in answers. */
function named({ userId, anonymousId }: PersonIds): { userId?: string; anonymousId?: string } {
  return {
    ...(userId === null ? {} : { userId }),
    ...(anonymousId === null ? {} : { anonymousId }),
  }
}

/** An item by id (of any published version) or by key (of the newest version); a 422 if there is none. */
function itemRefOf(flow: FlowEntry, item: ProgressBody['items'][number], index: number): ItemRef {
  const items = flow.latest?.checklist?.items ?? []
  const id = item.id ?? items.find(({ key }) => key === item.key)?.id
  const ref = id === undefined ? undefined : flow.itemRefs.get(id)
  if (ref !== undefined && flow.versions.some(({ itemRefs }) => itemRefs.includes(ref))) return ref
  throw invalid({ path: `/items/${index}`, message: 'This flow has no such item' })
}

/** What a request has written of items, and when it was received. */
interface Ticks {
  writes: ReadonlyMap<ItemRef, boolean>
  at: number
}

/**
 * Since when items are ticked, with what a request has just written.
 *
 * @returns `isUnstored` is true if a tick was not stored, because the person was erased
 */
function withWritten(stored: ReadonlyMap<ItemRef, number>, written?: Ticks) {
  const ticked = new Map(stored)
  for (const [item, isTicked] of written?.writes ?? []) {
    if (!isTicked) ticked.delete(item)
    else if (!ticked.has(item)) ticked.set(item, written!.at)
  }
  return { ticked, isUnstored: ticked.size > stored.size }
}

export function checklistService(deps: ChecklistDeps) {
  const { stores } = deps
  return {
    named,

    /** Records a completion. The earliest that was ever reported counts. */
    complete(
      flow: FlowEntry,
      person: PersonIds,
      report: { runId: string | null; completedAt: number | null; receivedAt: number },
    ) {
      const completedAt = Math.min(report.completedAt ?? report.receivedAt, report.receivedAt)
      const { organisation } = flow
      if (completedAt < oldestAccepted(organisation, deps.retentionDays, report.receivedAt)) {
        throw invalid({ path: '/completedAt', message: 'This is longer ago than events are kept' })
      }
      return stores.ledger.complete({
        ...person,
        orgRef: organisation.ref,
        flowRef: flow.ref,
        runId: report.runId,
        completedAt,
        receivedAt: report.receivedAt,
      })
    },

    /**
     * Ticks all items or none: if one is unknown, none is ticked.
     *
     * @returns what was written
     */
    async tick(
      flow: FlowEntry,
      person: PersonIds,
      {
        items,
        runId = null,
        sessionId = null,
      }: Pick<ProgressBody, 'items' | 'runId' | 'sessionId'>,
      receivedAt: number,
    ): Promise<Ticks> {
      // If a request writes one item several times, the last write counts.
      const writes = new Map(
        items.map((item, index) => [itemRefOf(flow, item, index), item.completed]),
      )
      await stores.ledger.tick({
        ...person,
        orgRef: flow.organisation.ref,
        flowRef: flow.ref,
        runId,
        sessionId,
        items: [...writes].map(([itemRef, completed]) => ({ itemRef, completed })),
        receivedAt,
      })
      return { writes, at: receivedAt }
    },

    /** @param written what the same request has just written, which is not stored of a person who was erased */
    async progress(flow: FlowEntry, person: PersonIds, written?: Ticks): Promise<Progress> {
      const stored = await stores.checklists.progress(flow.organisation.ref, flow.ref, person)
      const { ticked, isUnstored } = withWritten(stored.ticked, written)
      const items = (flow.latest?.checklist?.items ?? []).map(item => {
        const ref = flow.itemRefs.get(item.id)
        const tickedAt = (ref === undefined ? null : ticked.get(ref)) ?? null
        return {
          id: item.id,
          key: item.key,
          title: item.title,
          completed: tickedAt !== null,
          completedAt: isoTimeOrNull(tickedAt),
        }
      })
      const completed = items.filter(item => item.completed).length
      const isCompletedNow = isUnstored && completed === items.length
      return {
        flowId: flow.id,
        ...named(person),
        items,
        completed,
        total: items.length,
        percent: quotient(100 * completed, items.length, 0) ?? 0,
        completedAt: isoTimeOrNull(isCompletedNow ? written!.at : stored.completedAt),
      }
    },
  }
}
