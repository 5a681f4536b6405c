import type { Database } from 'bun:sqlite'
import type { FlowOrigin } from '../../../modules/authoring/port.ts'
import { preparedOnce } from '../catalogue/change.ts'

/**
 * The statements that change flows. They do not use Drizzle, which takes ten times as long: a push may
 * change thousands of rows in one transaction, and everything that pages report waits for it.
 */

/** A step or an item that a flow has not had before. */
export type NewPart = readonly [publicId: string, key: string]

const statements = preparedOnce((database: Database) => {
  const partsIn = (table: string, title: string) =>
    database.query<PartRow, [number | null]>(
      `select id, public_id as publicId, key, ${title} as title from ${table} where flow_id = ?`,
    )
  const addTo = (table: string) =>
    database.query<{ id: number }, [string, number, string]>(
      `insert into ${table} (public_id, flow_id, key) values (?, ?, ?) returning id`,
    )
  return {
    flow: database.query<{ id: number; publicId: string }, [number, string]>(
      'select id, public_id as publicId from flows where org_id = ? and key = ?',
    ),
    addFlow: database.query<{ id: number }, [string, number, string, number]>(
      `insert into flows (public_id, org_id, key, status, updated_at)
      values (?, ?, ?, 'draft', ?) returning id`,
    ),
    setFlow: database.query(
      'update flows set status = ?, draft = ?, updated_at = ? where org_id = ? and id = ?',
    ),
    setOrigin: database.query(
      'update flows set source = ?, is_locked = ? where org_id = ? and id = ?',
    ),
    newest: database.query<{ version: number; publishedAt: number }, [number]>(
      `select version, published_at as publishedAt from flow_versions where flow_id = ?
      order by version desc limit 1`,
    ),
    insertVersion: database.query(
      `insert into flow_versions (flow_id, version, published_at, body, step_rows, item_rows)
      values (?, ?, ?, ?, ?, ?)`,
    ),
    parts: { step: partsIn('steps', 'title'), item: partsIn('items', 'null') },
    addPart: { step: addTo('steps'), item: addTo('items') },
    setTitle: database.query('update steps set title = ? where id = ?'),
  }
})

export const flowNamed = (database: Database, orgRow: number, key: string) =>
  statements(database).flow.get(orgRow, key)

/** @returns its row */
export const addFlow = (
  database: Database,
  orgRow: number,
  { key, publicId }: { key: string; publicId: string },
  at: number,
): number => statements(database).addFlow.get(publicId, orgRow, key, at)!.id

/** Sets the fields of a flow that are not part of its history. */
export function setFlow(
  database: Database,
  orgRow: number,
  flowRow: number,
  { status, draft, updatedAt }: { status: string; draft: string | null; updatedAt: number },
): void {
  statements(database).setFlow.run(status, draft, updatedAt, orgRow, flowRow)
}

/** Sets where a flow comes from, and whether it is changed only there. */
export function setOrigin(
  database: Database,
  orgRow: number,
  flowRow: number,
  { source, isLocked }: FlowOrigin,
): void {
  const text = source && JSON.stringify(source)
  statements(database).setOrigin.run(text, Number(isLocked), orgRow, flowRow)
}

/** The newest version without its body, which takes longest to read. */
export const newestVersionOf = (database: Database, flowRow: number) =>
  statements(database).newest.get(flowRow)

export function insertVersion(
  database: Database,
  flowRow: number,
  { version, publishedAt }: { version: number; publishedAt: number },
  of: { body: string; stepRows: readonly number[]; itemRows: readonly number[] },
): void {
  const rows = [of.stepRows, of.itemRows].map(value => JSON.stringify(value))
  statements(database).insertVersion.run(flowRow, version, publishedAt, of.body, ...rows)
}

interface Part {
  /** Its row, or its public id where it has none yet. */
  ref: number | string
  publicId: string
  /** The title of a step in the newest version that has it. */
  title: string | null
}

interface PartRow {
  id: number
  publicId: string
  key: string
  title: string | null
}

/** The steps and items that a flow or its drafts ever had, by key. */
export function partsOf(database: Database, flowRow: number | null) {
  const { step, item } = statements(database).parts
  const byKey = (rows: PartRow[]) =>
    new Map(rows.map(({ id: ref, key, ...part }): [string, Part] => [key, { ref, ...part }]))
  return { step: byKey(step.all(flowRow)), item: byKey(item.all(flowRow)) }
}

/** @returns their rows by their public ids */
export function addParts(
  database: Database,
  kind: 'step' | 'item',
  flowRow: number,
  parts: readonly NewPart[],
): [publicId: string, row: number][] {
  const add = statements(database).addPart[kind]
  return parts.map(([publicId, key]) => [publicId, add.get(publicId, flowRow, key)!.id])
}

/** Stores the titles of the newest version's steps, for answers about runs of older versions. */
export function setTitles(database: Database, titles: readonly [step: number, title: string][]) {
  const { setTitle } = statements(database)
  for (const [step, title] of titles) setTitle.run(title, step)
}
