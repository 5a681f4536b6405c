import type { Database } from 'bun:sqlite'

/**
 * The statements that change flows. A push may change thousands of rows in one transaction, and
 * whatever pages report waits for it: so they are not Drizzle's, which take ten times as long.
 */

/** A step or an item that a flow has not had before. */
export type NewPart = readonly [publicId: string, key: string]

export const flowNamed = (database: Database, orgRow: number, key: string) =>
  database
    .query<{ id: number; publicId: string }, [number, string]>(
      'select id, public_id as publicId from flows where org_id = ? and key = ?',
    )
    .get(orgRow, key)

/** @returns its row */
export function addFlow(
  database: Database,
  orgRow: number,
  { key, publicId }: { key: string; publicId: string },
  at: number,
): number {
  const insert = database.query<{ id: number }, [string, number, string, number]>(
    `insert into flows (public_id, org_id, key, status, updated_at)
    values (?, ?, ?, 'draft', ?) returning id`,
  )
  return insert.get(publicId, orgRow, key, at)!.id
}

/** Sets what of a flow is not its history. */
export function setFlow(
  database: Database,
  orgRow: number,
  flowRow: number,
  { status, draft, updatedAt }: { status: string; draft: string | null; updatedAt: number },
): void {
  database
    .query('update flows set status = ?, draft = ?, updated_at = ? where org_id = ? and id = ?')
    .run(status, draft, updatedAt, orgRow, flowRow)
}

/** The newest version without what it holds, which takes longest to read. */
export const newestVersionOf = (database: Database, flowRow: number) =>
  database
    .query<{ version: number; publishedAt: number }, [number]>(
      `select version, published_at as publishedAt from flow_versions where flow_id = ?
      order by version desc limit 1`,
    )
    .get(flowRow)

export function insertVersion(
  database: Database,
  flowRow: number,
  version: number,
  publishedAt: number,
  of: { body: string; stepRows: readonly number[]; itemRows: readonly number[] },
): void {
  database
    .query(
      `insert into flow_versions (flow_id, version, published_at, body, step_rows, item_rows)
      values (?, ?, ?, ?, ?, ?)`,
    )
    .run(
      flowRow,
      version,
      publishedAt,
      of.body,
      JSON.stringify(of.stepRows),
      JSON.stringify(of.itemRows),
    )
}

interface Part {
  /** Its row, or its public id where it has none yet. */
  ref: number | string
  publicId: string
  /** Of a step: as the newest version that has it calls it. */
  title: string | null
}

type PartRow = [id: number, publicId: string, key: string, title: string | null]

/** The steps and items that a flow ever had, of drafts too, by key. */
export function partsOf(database: Database, flowRow: number | null) {
  const all = (sql: string) =>
    new Map(
      (database.query(sql).values(flowRow) as PartRow[]).map(
        ([ref, publicId, key, title]): [string, Part] => [key, { ref, publicId, title }],
      ),
    )
  return {
    step: all('select id, public_id, key, title from steps where flow_id = ?'),
    item: all('select id, public_id, key, null from items where flow_id = ?'),
  }
}

/** @returns their rows by their public ids */
export function addParts(
  database: Database,
  table: 'steps' | 'items',
  flowRow: number,
  parts: readonly NewPart[],
): [publicId: string, row: number][] {
  const insert = database.query<{ id: number }, [string, number, string]>(
    `insert into ${table} (public_id, flow_id, key) values (?, ?, ?) returning id`,
  )
  return parts.map(([publicId, key]) => [publicId, insert.get(publicId, flowRow, key)!.id])
}

/** Notes how the newest version calls its steps, for answers about runs of older ones. */
export function setTitles(database: Database, titles: readonly [step: number, title: string][]) {
  const set = database.query('update steps set title = ? where id = ?')
  for (const [step, title] of titles) set.run(title, step)
}
