import { and, eq, sql } from 'drizzle-orm'
import { preparedOnce, type Tables } from './catalogue-change.ts'
import type { FlowRow } from './flow-reader.ts'
import { flows, flowVersions, items, steps } from './schema.ts'

/** The statements that change flows. */
export const flowWrites = preparedOnce(tx => ({
  addFlow: tx
    .insert(flows)
    .values({
      publicId: sql.placeholder('publicId'),
      orgId: sql.placeholder('orgId'),
      key: sql.placeholder('key'),
      status: 'draft',
      updatedAt: sql.placeholder('updatedAt'),
    })
    .returning()
    .prepare(),
  addStep: tx.insert(steps).values(newPart).prepare(),
  addItem: tx.insert(items).values(newPart).prepare(),
  stepsOf: tx.select().from(steps).where(ofFlow(steps)).prepare(),
  itemsOf: tx.select().from(items).where(ofFlow(items)).prepare(),
  setTitle: tx
    .update(steps)
    .set({ title: sql`${sql.placeholder('title')}` })
    .where(eq(steps.id, sql.placeholder('id')))
    .prepare(),
  setFlow: tx
    .update(flows)
    .set({
      status: sql`${sql.placeholder('status')}`,
      draft: sql`${sql.placeholder('draft')}`,
      updatedAt: sql`${sql.placeholder('updatedAt')}`,
    })
    .where(and(eq(flows.orgId, sql.placeholder('orgId')), eq(flows.id, sql.placeholder('id'))))
    .prepare(),
  addVersion: tx
    .insert(flowVersions)
    .values({
      flowId: sql.placeholder('flowId'),
      version: sql.placeholder('version'),
      publishedAt: sql.placeholder('publishedAt'),
      body: sql.placeholder('body'),
      stepRows: sql.placeholder('stepRows'),
      itemRows: sql.placeholder('itemRows'),
    })
    .prepare(),
}))

const newPart = {
  publicId: sql.placeholder('publicId'),
  flowId: sql.placeholder('flowId'),
  key: sql.placeholder('key'),
}

const ofFlow = (table: typeof steps | typeof items) => eq(table.flowId, sql.placeholder('flowId'))

/** Sets what of a flow is not its history. */
export function setFlow(tx: Tables, flow: FlowRow, change: Partial<FlowRow>): void {
  const { draft, ...rest } = { ...flow, ...change }
  flowWrites(tx).setFlow.run({ ...rest, draft: draft && JSON.stringify(draft) })
}

const byKey = <Part extends { key: string }>(parts: readonly Part[]) =>
  new Map(parts.map(part => [part.key, part]))

/** All that a flow ever had, of drafts too. */
export const stepsByKey = (tx: Tables, flowId: number) =>
  byKey(flowWrites(tx).stepsOf.all({ flowId }))
export const itemsByKey = (tx: Tables, flowId: number) =>
  byKey(flowWrites(tx).itemsOf.all({ flowId }))
