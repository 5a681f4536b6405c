import type { Database } from 'bun:sqlite'
import { and, asc, count, desc, eq, inArray, max, ne, sql } from 'drizzle-orm'
import type { Flow, FlowDefinition } from '../../../core/flow/flow.ts'
import type {
  AuthoredFlow,
  FlowsRead,
  PublishedParts,
  PublishedVersion,
  VersionNote,
} from '../../../modules/authoring/port.ts'
import { atOnce, inSlices, patientSlices } from '../../../scheduling/cooperative.ts'
import { preparedOnce, type Tables, tables } from '../catalogue/change.ts'
import {
  auditLog,
  catalogueChanges,
  flows,
  flowVersions,
  items,
  steps,
} from '../database/schema.ts'

type FlowRow = typeof flows.$inferSelect

/** A published flow as its author would have written it: without what the server added. */
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

const orgRowGiven = sql.placeholder('orgRow')

const statements = preparedOnce((tx: Tables) => ({
  flowByKey: tx
    .select()
    .from(flows)
    .where(and(eq(flows.orgId, orgRowGiven), eq(flows.key, sql.placeholder('key'))))
    .prepare(),
  keys: tx
    .select({ key: flows.key })
    .from(flows)
    .where(eq(flows.orgId, orgRowGiven))
    .orderBy(asc(flows.key))
    .prepare(),
  inUse: tx
    .select({ count: count() })
    .from(flows)
    .where(and(eq(flows.orgId, orgRowGiven), ne(flows.status, 'archived')))
    .prepare(),
  revision: tx
    .select({ seq: max(catalogueChanges.seq) })
    .from(catalogueChanges)
    .where(eq(catalogueChanges.orgId, orgRowGiven))
    .prepare(),
  newestVersion: tx
    .select()
    .from(flowVersions)
    .where(eq(flowVersions.flowId, sql.placeholder('flowId')))
    .orderBy(desc(flowVersions.version))
    .limit(1)
    .prepare(),
}))

const flowByKey = (tx: Tables, orgRow: number, key: string): FlowRow | undefined =>
  statements(tx).flowByKey.get({ orgRow, key })

/** The newest change of an organisation; 0 before the first. */
export const revisionOf = (tx: Tables, orgRow: number): number =>
  statements(tx).revision.get({ orgRow })?.seq ?? 0

const versionFrom = ({ version, publishedAt, body }: typeof flowVersions.$inferSelect) => ({
  version,
  publishedAt,
  definition: definitionOf(body) as FlowDefinition,
})

/** A flow's row with its newest version. */
function authoredFlow(tx: Tables, row: FlowRow): AuthoredFlow {
  const newest = statements(tx).newestVersion.get({ flowId: row.id })
  const { publicId: id, key, status, draft, updatedAt, source, isLocked } = row
  const published = newest ? versionFrom(newest) : null
  return { id, key, status, draft, newest: published, updatedAt, source, isLocked }
}

function* flowsOf(
  tx: Tables,
  orgRow: number,
  keys?: readonly string[],
): Generator<undefined, FlowsRead> {
  const revision = revisionOf(tx, orgRow)
  const inUse = statements(tx).inUse.get({ orgRow })?.count ?? 0
  const read: AuthoredFlow[] = []
  const named =
    keys?.toSorted() ??
    statements(tx)
      .keys.all({ orgRow })
      .map(({ key }) => key)
  for (const key of named) {
    const row = flowByKey(tx, orgRow, key)
    if (row) read.push(authoredFlow(tx, row))
    yield
  }
  return { revision, flows: read, inUse }
}

/** Flows of an organisation as of one moment: see `FlowStore.read`. */
export const readFlows = (database: Database, orgRow: number, keys?: readonly string[]) =>
  database.transaction(() => atOnce(flowsOf(tables(database), orgRow, keys)))()

/** How often they are read in slices, in case somebody changes them meanwhile. */
const mostTries = 3

/** The same without holding up the thread. */
export async function readFlowsInSlices(
  database: Database,
  orgRow: number,
  keys?: readonly string[],
): Promise<FlowsRead> {
  const tx = tables(database)
  for (let tries = 1; tries <= mostTries; tries++) {
    const read = await inSlices(flowsOf(tx, orgRow, keys), patientSlices())
    if (revisionOf(tx, orgRow) === read.revision) return read
  }
  return readFlows(database, orgRow, keys)
}

/** See `FlowStore.versions`. */
export function flowVersionsOf(database: Database, orgRow: number, key: string): VersionNote[] {
  const tx = tables(database)
  const { version, publishedAt, stepRows, itemRows } = flowVersions
  const rows = tx
    .select({ version, publishedAt, stepRows, itemRows })
    .from(flowVersions)
    .innerJoin(flows, eq(flows.id, flowVersions.flowId))
    .where(and(eq(flows.orgId, orgRow), eq(flows.key, key)))
    .orderBy(desc(version))
    .all()
  const noted = publishersOf(tx, orgRow, key)
  return rows.map(({ stepRows: ofSteps, itemRows: ofItems, ...row }) => ({
    ...row,
    stepCount: ofSteps.length,
    itemCount: ofItems.length,
    published: noted.get(row.version) ?? null,
  }))
}

const publishing = ['flow.publish', 'flow.push_and_publish', 'flow.restore']

/** Who published which version, as far as the audit log says. */
function publishersOf(tx: Tables, orgRow: number, key: string) {
  const lines = tx
    .select()
    .from(auditLog)
    .where(
      and(
        eq(auditLog.orgId, orgRow),
        eq(auditLog.subject, key),
        inArray(auditLog.action, publishing),
      ),
    )
    .orderBy(asc(auditLog.id))
    .all()
  return new Map(
    lines
      // Showing a version again, or making it only a draft, is no new version.
      .filter(({ before, after }) => before?.version !== after?.version)
      .map(({ after, actor, via, note }) => [after?.version, { by: actor, via, note }] as const),
  )
}

/** See `FlowStore.version`. */
export function flowVersionOf(
  database: Database,
  orgRow: number,
  key: string,
  version: number,
): PublishedVersion | null {
  const found = tables(database)
    .select({ row: flowVersions })
    .from(flowVersions)
    .innerJoin(flows, eq(flows.id, flowVersions.flowId))
    .where(and(eq(flows.orgId, orgRow), eq(flows.key, key), eq(flowVersions.version, version)))
    .get()
  return found ? versionFrom(found.row) : null
}

/** See `FlowStore.publishedParts`. */
export function publishedParts(database: Database, orgRow: number, key: string): PublishedParts {
  const tx = tables(database)
  const flow = flowByKey(tx, orgRow, key)
  if (!flow) return { stepKeys: [], itemKeys: [] }
  const versions = tx
    .select({ stepRows: flowVersions.stepRows, itemRows: flowVersions.itemRows })
    .from(flowVersions)
    .where(eq(flowVersions.flowId, flow.id))
    .all()
  const keysIn = (table: typeof steps | typeof items, rows: ReadonlySet<number>) => {
    const parts = tx.select().from(table).where(eq(table.flowId, flow.id)).all()
    return parts.filter(({ id }) => rows.has(id)).map(({ key }) => key)
  }
  return {
    stepKeys: keysIn(steps, new Set(versions.flatMap(({ stepRows }) => stepRows))),
    itemKeys: keysIn(items, new Set(versions.flatMap(({ itemRows }) => itemRows))),
  }
}

/** The row of a flow's step, whichever version had it; null if none did. */
export function stepRowOf(
  database: Database,
  orgRow: number,
  flowKey: string,
  stepKey: string,
): number | null {
  const step = database.query<{ id: number }, [number, string, string]>(
    `select s.id from flows f join steps s on s.flow_id = f.id
    where f.org_id = ? and f.key = ? and s.key = ?`,
  )
  return step.get(orgRow, flowKey, stepKey)?.id ?? null
}
