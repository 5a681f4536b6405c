import type { Database } from 'bun:sqlite'
import { and, count, eq, ne } from 'drizzle-orm'
import { isoTime } from '../core/clock.ts'
import type { Flow, FlowDefinition } from '../core/flow.ts'
import type { FlowProblem } from '../core/flow-problem.ts'
import { storedFlowErrors } from '../core/flow-rules.ts'
import { newId } from '../core/ids.ts'
import { announce, ChangeRefused, inTransaction, type Tables, tables } from './catalogue-change.ts'
import {
  definitionOf,
  type FlowRecord,
  type FlowRow,
  flowByKey,
  newestVersion,
  recordOf,
  requiredFlow,
} from './flow-reader.ts'
import { flowWrites, itemsByKey, setFlow, stepsByKey } from './flow-writes.ts'
import { flows, type flowVersions } from './schema.ts'

/** What became of one flow of a push. */
export type Pushed = FlowRecord & { outcome: 'created' | 'updated' | 'unchanged' }

/** What became of one flow whose status was to change. */
export type StatusChange = FlowRecord & {
  outcome: 'published' | 'published again' | 'already published' | 'changed' | 'unchanged'
  /** The status before. */
  before: FlowRow['status']
}

/**
 * How many flows that are not archived an organisation may have. Every page fetches all published
 * ones, and a push of all of them must not keep a running server from writing for long.
 */
export const mostFlows = 1_000

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
  if (definitions.length > mostFlows) throw tooManyFlows(definitions.length)
  return changing(database, orgRow, tx => {
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
    flowWrites(tx).addFlow.get({
      publicId: newId('flow'),
      orgId: orgRow,
      key: definition.key,
      updatedAt: now,
    })
  const published = newestVersion(tx, flow)
  const isPublished = published && Bun.deepEquals(definitionOf(published.body), definition, true)
  const draft = isPublished ? null : definition
  if (known && Bun.deepEquals(known.draft, draft, true)) return 'unchanged'
  giveIds(tx, flow.id, definition)
  setFlow(tx, flow, { draft, updatedAt: now })
  if (!known) return 'created'
  return isPublished ? 'unchanged' : 'updated'
}

/** An id for every step and item whose key the flow has not had before. */
function giveIds(tx: Tables, flowId: number, definition: FlowDefinition): void {
  const { addStep, addItem } = flowWrites(tx)
  const known = { steps: stepsByKey(tx, flowId), items: itemsByKey(tx, flowId) }
  for (const { key } of definition.steps) {
    if (!known.steps.has(key)) addStep.run({ publicId: newId('step'), flowId, key })
  }
  for (const { key } of definition.checklist?.items ?? []) {
    if (!known.items.has(key)) addItem.run({ publicId: newId('item'), flowId, key })
  }
}

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
  const known = { steps: stepsByKey(tx, flow.id), items: itemsByKey(tx, flow.id) }
  const placed = <P extends { key: string }>(ids: Map<string, { publicId: string }>, parts: P[]) =>
    parts.map(({ key, ...rest }, position) => ({
      id: ids.get(key)!.publicId,
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
    steps: placed(known.steps, definition.steps),
    checklist: checklist && { ...checklist, items: placed(known.items, checklist.items) },
  } as Flow
  return {
    body,
    stepRows: definition.steps.map(step => known.steps.get(step.key)!.id),
    itemRows: (checklist?.items ?? []).map(item => known.items.get(item.key)!.id),
  }
}

/** Notes how the newest version calls its steps, for answers about runs of older ones. */
function setTitles(tx: Tables, flowId: number, definition: FlowDefinition): void {
  const known = stepsByKey(tx, flowId)
  for (const { key, title } of definition.steps) {
    const step = known.get(key)!
    if (step.title !== title) flowWrites(tx).setTitle.run({ id: step.id, title })
  }
}

/** What of a flow callers would see once it is published; null where they see it already. */
function toBeShown(tx: Tables, flow: FlowRow): FlowDefinition | null {
  if (flow.draft === null && flow.status === 'published') return null
  return flow.draft ?? definitionOf(newestVersion(tx, flow)!.body)
}

type Judged = ReadonlyMap<string, { definition: FlowDefinition; errors: FlowProblem[] }>

/** Judging takes long: it is done before the transaction, which then only compares. */
const judged = (definitions: readonly FlowDefinition[]): Judged =>
  new Map(
    definitions.map(definition => [
      definition.key,
      { definition, errors: storedFlowErrors(definition) },
    ]),
  )

/** Every error of the flows that are to be shown: they may be older than the rules of today. */
function refuseErrors(tx: Tables, orgRow: number, keys: readonly string[], before: Judged): void {
  const errors = keys.flatMap(key => {
    const shown = toBeShown(tx, requiredFlow(tx, orgRow, key))
    if (shown === null) return []
    const known = before.get(key)
    const isSame = known && Bun.deepEquals(known.definition, shown, true)
    const found = isSame ? known.errors : storedFlowErrors(shown)
    return found.map(({ code, path, message }) =>
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
 * @param beforeCommit what it throws undoes all of it
 * @throws ChangeRefused naming every error that `cairn flows validate` would find in them
 */
export function publishFlows(
  database: Database,
  orgRow: number,
  keys: readonly string[],
  clock: () => number,
  beforeCommit?: () => void,
): StatusChange[] {
  const tx = tables(database)
  const drafts = keys.flatMap(key => {
    const flow = flowByKey(tx, orgRow, key)
    return (flow && toBeShown(tx, flow)) ?? []
  })
  const before = judged(drafts)
  return inTransaction(database, () => {
    const published = publishJudged(database, orgRow, keys, clock, before)
    beforeCommit?.()
    return published
  })
}

function publishJudged(
  database: Database,
  orgRow: number,
  keys: readonly string[],
  clock: () => number,
  before: Judged,
): StatusChange[] {
  const publish: Change = (tx, flow) => {
    // Read while no other process can write: no stored event is later and still of the old version.
    const now = clock()
    if (flow.draft === null) {
      if (flow.status === 'published') return 'already published'
      setFlow(tx, flow, { status: 'published', updatedAt: now })
      return 'published again'
    }
    const newest = newestVersion(tx, flow)
    const version = (newest?.version ?? 0) + 1
    // Strictly later than the one before, whatever the clock does: runs are told apart by it.
    const publishedAt = Math.max(now, (newest?.publishedAt ?? 0) + 1)
    const parts = frozen(tx, flow, flow.draft, { version, publishedAt })
    flowWrites(tx).addVersion.run({ flowId: flow.id, version, publishedAt, ...parts })
    setTitles(tx, flow.id, flow.draft)
    setFlow(tx, flow, { status: 'published', draft: null, updatedAt: now })
    return 'published'
  }
  return changeEach(database, orgRow, keys, publish, (tx, unique) =>
    refuseErrors(tx, orgRow, unique, before),
  )
}

/** Pushes and then publishes, all of it or nothing. */
export function pushAndPublishFlows(
  database: Database,
  orgRow: number,
  definitions: readonly FlowDefinition[],
  clock: () => number,
  beforeCommit?: () => void,
): { pushed: Pushed[]; published: StatusChange[] } {
  if (definitions.length > mostFlows) throw tooManyFlows(definitions.length)
  const before = judged(definitions)
  return inTransaction(database, () => {
    const pushed = pushFlows(database, orgRow, definitions, clock())
    const keys = definitions.map(({ key }) => key)
    const published = publishJudged(database, orgRow, keys, clock, before)
    beforeCommit?.()
    return { pushed, published }
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
    setFlow(tx, flow, { status, updatedAt: now })
    return 'changed'
  })
}

/** Does work in a transaction, unless it would leave an organisation with more flows than it may have. */
function changing<T>(database: Database, orgRow: number, work: (tx: Tables) => T): T {
  return inTransaction(database, tx => {
    const counted = and(eq(flows.orgId, orgRow), ne(flows.status, 'archived'))
    const query = tx.select({ count: count() }).from(flows).where(counted).prepare()
    const before = query.get()?.count ?? 0
    const result = work(tx)
    const after = query.get()?.count ?? 0
    if (after > mostFlows && after > before) throw tooManyFlows(after)
    return result
  })
}

const tooManyFlows = (count: number) =>
  new ChangeRefused(
    `nothing was changed: the organisation would have ${count} flows that are not archived, and ${mostFlows} are the most: put some into the archive, "cairn flows archive KEY", or leave some out`,
  )

type Change = (tx: Tables, flow: FlowRow) => StatusChange['outcome']

/** @param refuse throws where the change of all of them must not be */
function changeEach(
  database: Database,
  orgRow: number,
  keys: readonly string[],
  change: Change,
  refuse: (tx: Tables, keys: readonly string[]) => void = () => {},
): StatusChange[] {
  return changing(database, orgRow, tx => {
    const unique = [...new Set(keys)]
    refuse(tx, unique)
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
