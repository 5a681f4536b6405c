import type { Database } from 'bun:sqlite'
import type { Flow, FlowDefinition } from '../../core/flow/flow.ts'
import { isoTime } from '../../core/time/clock.ts'
import { failpoint } from '../../failpoints.ts'
import type { FlowChange, FlowChanges, StoredChange } from '../../modules/authoring/port.ts'
import { announce, inTransaction } from '../catalogue/change.ts'
import { writeAudit } from '../organisations/audit-log.ts'
import { revisionOf } from './reader.ts'
import {
  addFlow,
  type FlowNamed,
  type FrozenVersion,
  flowNamed,
  insertVersion,
  newestVersionOf,
  StoredParts,
  setFlow,
} from './writes.ts'

/** Makes changes of flows, all or none: see `FlowStore.change`. */
export function changeFlows(
  database: Database,
  orgRow: number,
  { revision, changes, audit }: FlowChanges,
  now: () => number,
): StoredChange[] | null {
  return inTransaction(database, tx => {
    if (revisionOf(tx, orgRow) !== revision) return null
    const stored = changes.map(change => apply(database, orgRow, change, now))
    writeAudit(tx, orgRow, audit)
    // Also for drafts: an analyst sees a flow, and its name, before its first publication.
    announce(tx, orgRow)
    failpoint('during_publish')
    return stored
  })
}

function apply(
  database: Database,
  orgRow: number,
  change: FlowChange,
  now: () => number,
): StoredChange {
  const { key, status, draft, publish } = change
  const flow = flowNamed(database, orgRow, key) ?? addFlow(database, orgRow, key, now())
  const newest = newestVersionOf(database, flow.id)
  const parts = new StoredParts(database, flow.id)
  for (const definition of [draft, publish]) if (definition) parts.add(definition)
  // Read while nobody else can write: no stored event is later and still of the old version.
  const updatedAt = now()
  // Strictly later than the one before, whatever the clock does: runs are told apart by it.
  const nextAt = Math.max(updatedAt, (newest?.publishedAt ?? 0) + 1)
  if (publish) {
    const version = { version: (newest?.version ?? 0) + 1, publishedAt: nextAt }
    const frozenParts = frozen(parts, flow, publish, version)
    insertVersion(database, flow.id, version, frozenParts)
    parts.setTitles(publish)
  }
  setFlow(database, orgRow, flow.id, { status, draft, updatedAt })
  const publishedAt = publish ? nextAt : (newest?.publishedAt ?? null)
  return { id: flow.publicId, key, updatedAt, publishedAt }
}

/**
 * A definition frozen as a version: what callers get, with ids and positions in the contract's
 * order, and the rows of its parts.
 */
function frozen(
  known: StoredParts,
  flow: FlowNamed,
  definition: FlowDefinition,
  version: { version: number; publishedAt: number },
): FrozenVersion {
  const placed = <P extends { key: string }>(
    ids: ReadonlyMap<string, { publicId: string }>,
    parts: P[],
  ) =>
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
