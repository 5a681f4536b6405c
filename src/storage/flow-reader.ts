import type { Database } from 'bun:sqlite'
import { and, asc, desc, eq, sql } from 'drizzle-orm'
import type { Flow, FlowDefinition } from '../core/flow.ts'
import { ChangeRefused, preparedOnce, type Tables, tables } from './catalogue-change.ts'
import { flows, flowVersions, items, steps } from './schema.ts'

export type FlowRow = typeof flows.$inferSelect

/** A flow as its author sees it. */
export interface FlowRecord {
  id: string
  key: string
  name: string
  kind: FlowDefinition['kind']
  status: FlowRow['status']
  /** The newest published version; null for a flow that never was. */
  version: number | null
  publishedAt: number | null
  /** Whether there is something newer to publish. */
  hasDraft: boolean
  updatedAt: number
  /** How many steps and items the draft has, or the newest version where there is none. */
  stepCount: number
  itemCount: number
}

/** A flow with what its author wrote. */
export interface StoredFlow extends FlowRecord {
  /** What is newer than the newest version, if anything is. */
  draft: FlowDefinition | null
  /** The newest version, whether callers still see it or not. */
  published: FlowDefinition | null
  /** Keys that any version ever had: given again, they are the same step or item. */
  stepKeys: ReadonlySet<string>
  itemKeys: ReadonlySet<string>
}

/** A published flow as its author would have written it: without what the server gave it. */
export function definitionOf({ id, version, publishedAt, steps, checklist, ...rest }: Flow) {
  const written = <Part extends { id: string; position: number }>(part: Part) => {
    const { id, position, ...fields } = part
    return fields
  }
  return {
    ...rest,
    steps: steps.map(written),
    checklist: checklist && { ...checklist, items: checklist.items.map(written) },
  }
}

const statements = preparedOnce(tx => ({
  flowByKey: tx
    .select()
    .from(flows)
    .where(and(eq(flows.orgId, sql.placeholder('orgRow')), eq(flows.key, sql.placeholder('key'))))
    .prepare(),
  newestVersion: tx
    .select()
    .from(flowVersions)
    .where(eq(flowVersions.flowId, sql.placeholder('flowId')))
    .orderBy(desc(flowVersions.version))
    .limit(1)
    .prepare(),
}))

export const flowByKey = (tx: Tables, orgRow: number, key: string): FlowRow | undefined =>
  statements(tx).flowByKey.get({ orgRow, key })

export const newestVersion = (tx: Tables, flow: FlowRow) =>
  statements(tx).newestVersion.get({ flowId: flow.id })

export function requiredFlow(tx: Tables, orgRow: number, key: string): FlowRow {
  const flow = flowByKey(tx, orgRow, key)
  if (flow) return flow
  throw new ChangeRefused(
    `no flow has the key "${key.slice(0, 64)}": push it first, or see "cairn flows list"`,
  )
}

export function recordOf(tx: Tables, orgRow: number, key: string): FlowRecord {
  const flow = requiredFlow(tx, orgRow, key)
  return recordFrom(flow, newestVersion(tx, flow))
}

function recordFrom(flow: FlowRow, newest: ReturnType<typeof newestVersion>): FlowRecord {
  const { key } = flow
  const shown = flow.draft ?? newest?.body
  const { name, kind } = shown ?? { name: key, kind: 'tour' as const }
  return {
    id: flow.publicId,
    key,
    name,
    kind,
    status: flow.status,
    version: newest?.version ?? null,
    publishedAt: newest?.publishedAt ?? null,
    hasDraft: flow.draft !== null,
    updatedAt: flow.updatedAt,
    stepCount: shown?.steps.length ?? 0,
    itemCount: shown?.checklist?.items.length ?? 0,
  }
}

/** The keys of steps and items that were ever published. */
function publishedKeys(tx: Tables, flow: FlowRow) {
  const versions = tx
    .select({ stepRows: flowVersions.stepRows, itemRows: flowVersions.itemRows })
    .from(flowVersions)
    .where(eq(flowVersions.flowId, flow.id))
    .all()
  const keysIn = (table: typeof steps | typeof items, rows: ReadonlySet<number>) => {
    const parts = tx.select().from(table).where(eq(table.flowId, flow.id)).all()
    return new Set(parts.filter(({ id }) => rows.has(id)).map(({ key }) => key))
  }
  return {
    stepKeys: keysIn(steps, new Set(versions.flatMap(({ stepRows }) => stepRows))),
    itemKeys: keysIn(items, new Set(versions.flatMap(({ itemRows }) => itemRows))),
  }
}

const keysOf = (tx: Tables, orgRow: number) => {
  const owned = tx.select().from(flows).where(eq(flows.orgId, orgRow))
  return owned
    .orderBy(asc(flows.key))
    .all()
    .map(({ key }) => key)
}

/** All flows of an organisation, by key. */
export function listFlows(database: Database, orgRow: number): FlowRecord[] {
  const tx = tables(database)
  return keysOf(tx, orgRow).map(key => recordOf(tx, orgRow, key))
}

/**
 * Flows with their definitions, as of one moment.
 *
 * @param keys which, each of them required; all of the organisation's where left out
 */
export function readFlows(
  database: Database,
  orgRow: number,
  keys?: readonly string[],
): StoredFlow[] {
  const read = database.transaction(() => {
    const tx = tables(database)
    return (keys ?? keysOf(tx, orgRow)).map((key): StoredFlow => {
      const flow = requiredFlow(tx, orgRow, key)
      const newest = newestVersion(tx, flow)
      return {
        ...recordFrom(flow, newest),
        draft: flow.draft,
        published: newest ? definitionOf(newest.body) : null,
        ...publishedKeys(tx, flow),
      }
    })
  })
  return read()
}
