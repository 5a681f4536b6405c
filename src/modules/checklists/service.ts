import type { StaticDecode } from '@sinclair/typebox'
import { invalid } from '../../core/errors.ts'
import type { PersonIds } from '../../core/event/stored-event.ts'
import { quotient } from '../../core/number/statistics.ts'
import { type FlowEntry, oldestAccepted } from '../../core/organisation/catalogue.ts'
import type { ItemRef } from '../../core/reference.ts'
import type { ChecklistStores } from '../../storage/interfaces/checklists.ts'
import type { Completion, Progress, ProgressBody } from './schema.ts'

export interface ChecklistDeps {
  stores: ChecklistStores
  retentionDays: number
}

/** The IDs that the caller sent, to be repeated in the response. */
const named = ({ userId, anonymousId }: PersonIds) => ({
  ...(userId !== null && { userId }),
  ...(anonymousId !== null && { anonymousId }),
})

/** An item by ID (of any published version) or by key (of the newest version). @throws AppError `validation_failed` */
function itemRefOf(flow: FlowEntry, item: ProgressBody['items'][number], index: number): ItemRef {
  const items = flow.latest?.checklist?.items ?? []
  const id = item.id ?? items.find(({ key }) => key === item.key)?.id
  const ref = id === undefined ? undefined : flow.itemRefs.get(id)
  if (ref !== undefined && flow.versions.some(({ itemRefs }) => itemRefs.includes(ref))) return ref
  throw invalid({ path: `/items/${index}`, message: 'This flow has no such item' })
}

/** Records a completion. The earliest that was ever reported counts. @throws AppError `validation_failed` */
export async function complete(
  { stores, retentionDays }: ChecklistDeps,
  flow: FlowEntry,
  person: PersonIds,
  report: { runId: string | null; completedAt: number | null; receivedAt: number },
): Promise<StaticDecode<typeof Completion>> {
  const { runId, receivedAt } = report
  const completedAt = Math.min(report.completedAt ?? receivedAt, receivedAt)
  const { organisation } = flow
  if (completedAt < oldestAccepted(organisation, retentionDays, receivedAt)) {
    throw invalid({ path: '/completedAt', message: 'Must not be before the retention period' })
  }
  const stored = await stores.ledger.complete({
    ...person,
    orgRef: organisation.ref,
    flowRef: flow.ref,
    runId,
    completedAt,
    receivedAt,
  })
  return {
    flowId: flow.id,
    ...named(person),
    status: 'completed',
    completedAt: stored.completedAt,
    alreadyCompleted: stored.alreadyCompleted,
  }
}

/** What a request has ticked or unticked, and when it was received. */
interface Ticks {
  writes: ReadonlyMap<ItemRef, boolean>
  at: number
}

/** Ticks all items of a request, or none if one is unknown. @throws AppError `validation_failed` */
export async function tick(
  { stores }: ChecklistDeps,
  flow: FlowEntry,
  person: PersonIds,
  { items, runId = null, sessionId = null }: Pick<ProgressBody, 'items' | 'runId' | 'sessionId'>,
  receivedAt: number,
): Promise<Ticks> {
  // If a request writes one item several times, the last write counts.
  const writes = new Map(items.map((item, index) => [itemRefOf(flow, item, index), item.completed]))
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
}

/**
 * When items were ticked, with what a request has just written.
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

/** @param written what the same request has just written, which is not stored of a person who was erased */
export async function progress(
  { stores }: Pick<ChecklistDeps, 'stores'>,
  flow: FlowEntry,
  person: PersonIds,
  written?: Ticks,
): Promise<StaticDecode<typeof Progress>> {
  const stored = await stores.checklists.progress(flow.organisation.ref, flow.ref, person)
  const { ticked, isUnstored } = withWritten(stored.ticked, written)
  const items = (flow.latest?.checklist?.items ?? []).map(({ id, key, title }) => {
    const ref = flow.itemRefs.get(id)
    const completedAt = (ref === undefined ? null : ticked.get(ref)) ?? null
    return { id, key, title, completed: completedAt !== null, completedAt }
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
    completedAt: isCompletedNow ? written!.at : stored.completedAt,
  }
}
