import type { Database } from 'bun:sqlite'
import { and, eq } from 'drizzle-orm'
import { isoTime } from '../core/clock.ts'
import type { Flow, FlowDefinition } from '../core/flow.ts'
import { storedFlowErrors } from '../core/flow-rules.ts'
import { newId } from '../core/ids.ts'
import { announce, ChangeRefused, inTransaction, type Tables } from './catalogue-change.ts'
import {
  definitionOf,
  type FlowRecord,
  type FlowRow,
  flowByKey,
  newestVersion,
  recordOf,
  requiredFlow,
} from './flow-reader.ts'
import { flows, flowVersions, items, steps } from './schema.ts'

/** What became of one flow of a push. */
export type Pushed = FlowRecord & { outcome: 'created' | 'updated' | 'unchanged' }

/** What became of one flow whose status was to change. */
export type StatusChange = FlowRecord & {
  outcome: 'published' | 'published again' | 'already published' | 'changed' | 'unchanged'
  /** The status before. */
  before: FlowRow['status']
}

/**
 * Makes each definition its flow's draft, all or none. Flows, steps and items are known by their
 * keys, and keep their ids. What equals the newest published version leaves no draft.
 */
export function pushFlows(
  database: Database,
  orgRow: number,
  definitions: readonly FlowDefinition[],
  now: number,
): Pushed[] {
  return inTransaction(database, tx => {
    const pushed = definitions.map(definition => {
      const outcome = push(tx, orgRow, definition, now)
      return { ...recordOf(tx, orgRow, definition.key), outcome }
    })
    // Also for drafts: an analyst sees a flow, and its name, before its first publication.
    if (pushed.some(({ outcome }) => outcome !== 'unchanged')) announce(tx, orgRow)
    return pushed
  })
}

function push(
  tx: Tables,
  orgRow: number,
  definition: FlowDefinition,
  now: number,
): Pushed['outcome'] {
  const known = flowByKey(tx, orgRow, definition.key)
  const flow =
    known ??
    tx
      .insert(flows)
      .values({
        publicId: newId('flow'),
        orgId: orgRow,
        key: definition.key,
        status: 'draft',
        updatedAt: now,
      })
      .returning()
      .get()
  const published = newestVersion(tx, flow)
  const isPublished = published && Bun.deepEquals(definitionOf(published.body), definition, true)
  const draft = isPublished ? null : definition
  if (known && Bun.deepEquals(known.draft, draft, true)) return 'unchanged'
  giveIds(tx, flow.id, definition)
  tx.update(flows).set({ draft, updatedAt: now }).where(isFlow(orgRow, flow)).run()
  if (!known) return 'created'
  return isPublished ? 'unchanged' : 'updated'
}

/** An id for every step and item whose key the flow has not had before. */
function giveIds(tx: Tables, flowId: number, definition: FlowDefinition): void {
  for (const { key } of definition.steps) {
    tx.insert(steps)
      .values({ publicId: newId('step'), flowId, key })
      .onConflictDoNothing()
      .run()
  }
  for (const { key } of definition.checklist?.items ?? []) {
    tx.insert(items)
      .values({ publicId: newId('item'), flowId, key })
      .onConflictDoNothing()
      .run()
  }
}

const isFlow = (orgRow: number, flow: FlowRow) =>
  and(eq(flows.orgId, orgRow), eq(flows.id, flow.id))

type Part = typeof steps.$inferSelect | typeof items.$inferSelect

const partsByKey = (tx: Tables, table: typeof steps | typeof items, flowId: number) =>
  new Map<string, Part>(
    tx
      .select()
      .from(table)
      .where(eq(table.flowId, flowId))
      .all()
      .map(part => [part.key, part]),
  )

/**
 * A definition frozen as a version: what callers get, with ids and positions in the contract's
 * order, and the rows of its parts.
 */
function frozen(
  tx: Tables,
  flow: FlowRow,
  definition: FlowDefinition,
  version: { version: number; publishedAt: number },
): Pick<typeof flowVersions.$inferInsert, 'body' | 'stepRows' | 'itemRows'> {
  const stepsByKey = partsByKey(tx, steps, flow.id)
  const itemsByKey = partsByKey(tx, items, flow.id)
  const placed = <P extends { key: string }>(known: Map<string, Part>, parts: P[]) =>
    parts.map(({ key, ...rest }, position) => ({
      id: known.get(key)!.publicId,
      key,
      position,
      ...rest,
    }))
  const { key, name, kind, checklist, ...rest } = definition
  const body = {
    id: flow.publicId,
    key,
    name,
    kind,
    version: version.version,
    publishedAt: isoTime(version.publishedAt),
    ...rest,
    steps: placed(stepsByKey, definition.steps),
    checklist: checklist && { ...checklist, items: placed(itemsByKey, checklist.items) },
  } as Flow
  return {
    body,
    stepRows: definition.steps.map(step => stepsByKey.get(step.key)!.id),
    itemRows: (checklist?.items ?? []).map(item => itemsByKey.get(item.key)!.id),
  }
}

/** Notes how the newest version calls its steps, for answers about runs of older ones. */
function setTitles(tx: Tables, flowId: number, definition: FlowDefinition): void {
  for (const { key, title } of definition.steps) {
    tx.update(steps)
      .set({ title })
      .where(and(eq(steps.flowId, flowId), eq(steps.key, key)))
      .run()
  }
}

/** Every error of the flows that are to be shown: they may be older than the rules of today. */
function refuseErrors(tx: Tables, orgRow: number, keys: readonly string[]): void {
  const errors = keys.flatMap(key => {
    const flow = requiredFlow(tx, orgRow, key)
    if (flow.draft === null && flow.status === 'published') return []
    const shown = flow.draft ?? definitionOf(newestVersion(tx, flow)!.body)
    return storedFlowErrors(shown).map(({ code, path, message }) =>
      [key, code, path, message].filter(part => part !== '').join(' '),
    )
  })
  if (errors.length === 0) return
  const header =
    'nothing was published, because there are mistakes to mend: mend the file and push it again'
  throw new ChangeRefused([header, ...errors].join('\n'))
}

/**
 * Publishes flows, all or none: a draft is frozen as the next version; without one, a flow that
 * was withdrawn shows its newest version again.
 *
 * @param clock epoch milliseconds
 * @throws ChangeRefused naming every error that `cairn flows validate` would find in them
 */
export function publishFlows(
  database: Database,
  orgRow: number,
  keys: readonly string[],
  clock: () => number,
): StatusChange[] {
  const publish: Change = (tx, flow) => {
    // Read while no other process can write: no stored event is later and still of the old version.
    const now = clock()
    if (flow.draft === null) {
      if (flow.status === 'published') return 'already published'
      const change = { status: 'published', updatedAt: now } as const
      tx.update(flows).set(change).where(isFlow(orgRow, flow)).run()
      return 'published again'
    }
    const newest = newestVersion(tx, flow)
    const version = (newest?.version ?? 0) + 1
    // Strictly later than the one before, whatever the clock does: runs are told apart by it.
    const publishedAt = Math.max(now, (newest?.publishedAt ?? 0) + 1)
    const parts = frozen(tx, flow, flow.draft, { version, publishedAt })
    tx.insert(flowVersions)
      .values({ flowId: flow.id, version, publishedAt, ...parts })
      .run()
    setTitles(tx, flow.id, flow.draft)
    const change = { status: 'published', draft: null, updatedAt: now } as const
    tx.update(flows).set(change).where(isFlow(orgRow, flow)).run()
    return 'published'
  }
  return changeEach(database, orgRow, keys, publish, refuseErrors)
}

/** Pushes and then publishes, all of it or nothing. */
export function pushAndPublishFlows(
  database: Database,
  orgRow: number,
  definitions: readonly FlowDefinition[],
  clock: () => number,
): { pushed: Pushed[]; published: StatusChange[] } {
  return inTransaction(database, () => {
    const pushed = pushFlows(database, orgRow, definitions, clock())
    const keys = definitions.map(({ key }) => key)
    return { pushed, published: publishFlows(database, orgRow, keys, clock) }
  })
}

/** Takes flows back to draft, or puts them into the archive, all or none. */
export function withdrawFlows(
  database: Database,
  orgRow: number,
  keys: readonly string[],
  status: 'draft' | 'archived',
  now: number,
): StatusChange[] {
  return changeEach(database, orgRow, keys, (tx, flow) => {
    if (flow.status === status) return 'unchanged'
    tx.update(flows).set({ status, updatedAt: now }).where(isFlow(orgRow, flow)).run()
    return 'changed'
  })
}

type Change = (tx: Tables, flow: FlowRow) => StatusChange['outcome']

/** @param refuse throws where the change of all of them must not be */
function changeEach(
  database: Database,
  orgRow: number,
  keys: readonly string[],
  change: Change,
  refuse: (tx: Tables, orgRow: number, keys: readonly string[]) => void = () => {},
): StatusChange[] {
  return inTransaction(database, tx => {
    const unique = [...new Set(keys)]
    refuse(tx, orgRow, unique)
    const changes = unique.map(key => {
      const flow = requiredFlow(tx, orgRow, key)
      const outcome = change(tx, flow)
      return { ...recordOf(tx, orgRow, key), outcome, before: flow.status }
    })
    const isSeen = changes.some(
      ({ outcome }) => outcome !== 'unchanged' && outcome !== 'already published',
    )
    if (isSeen) announce(tx, orgRow)
    return changes
  })
}
