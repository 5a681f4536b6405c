import type { Database } from 'bun:sqlite'
import { preparedOnce } from '../catalogue/change.ts'

/**
 * The statements that change flows. They do not use Drizzle, which takes ten times as long: a push may
 * change thousands of rows in one transaction, and everything that pages report waits for it.
 */
export const statements = preparedOnce((database: Database) => {
  const partsIn = (table: string, title: string) =>
    database.query<Part, [number | null]>(
      `select id as ref, public_id as publicId, key, ${title} as title from ${table} where flow_id = ?`,
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
    // Without its body, which takes longest to read.
    newestVersion: database.query<{ version: number; publishedAt: number }, [number]>(
      `select version, published_at as publishedAt from flow_versions where flow_id = ?
      order by version desc limit 1`,
    ),
    insertVersion: database.query(
      `insert into flow_versions (flow_id, version, published_at, body, step_rows, item_rows)
      values (?, ?, ?, ?, ?, ?)`,
    ),
    parts: { step: partsIn('steps', 'title'), item: partsIn('items', 'null') },
    addPart: { step: addTo('steps'), item: addTo('items') },
    // Those of the newest version, for answers about runs of older ones.
    setTitle: database.query('update steps set title = ? where id = ?'),
  }
})

interface Part {
  /** Its row, or its public id where it has none yet. */
  ref: number | string
  publicId: string
  key: string
  /** The title of a step in the newest version that has it. */
  title: string | null
}

/** The steps and items that a flow or its drafts ever had, by key. */
export function partsOf(database: Database, flowRow: number | null) {
  const { step, item } = statements(database).parts
  const byKey = (parts: Part[]) => new Map(parts.map(part => [part.key, part]))
  return { step: byKey(step.all(flowRow)), item: byKey(item.all(flowRow)) }
}
