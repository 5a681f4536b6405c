import type { Database } from 'bun:sqlite'
import type { Flow, FlowDefinition } from '../../core/flow/flow.ts'
import { newId } from '../../core/organisation/ids.ts'

/**
 * The statements that change flows. A push may change thousands of rows in one transaction, and
 * whatever pages report waits for it: so they are not Drizzle's, which take ten times as long.
 */

/** What names a flow. */
export interface FlowNamed {
  id: number
  publicId: string
}

/** A version's columns: what pages get, and the rows of its parts. */
export interface FrozenVersion {
  body: Flow
  stepRows: readonly number[]
  itemRows: readonly number[]
}

export const flowNamed = (database: Database, orgRow: number, key: string): FlowNamed | null =>
  database
    .query<FlowNamed, [number, string]>(
      'select id, public_id as publicId from flows where org_id = ? and key = ?',
    )
    .get(orgRow, key)

export function addFlow(database: Database, orgRow: number, key: string, at: number): FlowNamed {
  const publicId = newId('flow')
  const insert = database.query<{ id: number }, [string, number, string, number]>(
    `insert into flows (public_id, org_id, key, status, updated_at)
    values (?, ?, ?, 'draft', ?) returning id`,
  )
  return { id: insert.get(publicId, orgRow, key, at)!.id, publicId }
}

/** Sets what of a flow is not its history. */
export function setFlow(
  database: Database,
  orgRow: number,
  flowRow: number,
  change: { status: string; draft: FlowDefinition | null; updatedAt: number },
): void {
  const { status, draft, updatedAt } = change
  database
    .query('update flows set status = ?, draft = ?, updated_at = ? where org_id = ? and id = ?')
    .run(status, draft && JSON.stringify(draft), updatedAt, orgRow, flowRow)
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
  { version, publishedAt }: { version: number; publishedAt: number },
  { body, stepRows, itemRows }: FrozenVersion,
): void {
  const texts = [body, stepRows, itemRows].map(value => JSON.stringify(value))
  database
    .query(
      `insert into flow_versions (flow_id, version, published_at, body, step_rows, item_rows)
      values (?, ?, ?, ?, ?, ?)`,
    )
    .run(flowRow, version, publishedAt, ...texts)
}

interface Part {
  id: number
  publicId: string
  key: string
  /** Of a step: as the newest version that has it calls it. */
  title: string | null
}

type PartRow = [id: number, publicId: string, key: string, title: string | null]

const partOf = ([id, publicId, key, title]: PartRow): Part => ({ id, publicId, key, title })

/** The steps and items that a flow ever had, of drafts too, by key. */
export class StoredParts {
  readonly steps: Map<string, Part>
  readonly items: Map<string, Part>

  constructor(
    private readonly database: Database,
    private readonly flowId: number,
  ) {
    const all = (sql: string) =>
      new Map((database.query(sql).values(flowId) as PartRow[]).map(row => [row[2], partOf(row)]))
    this.steps = all('select id, public_id, key, title from steps where flow_id = ?')
    this.items = all('select id, public_id, key, null from items where flow_id = ?')
  }

  /** An id for every step and item whose key the flow has not had before. */
  add({ steps, checklist }: FlowDefinition): void {
    const { database } = this
    const addTo = (known: Map<string, Part>, kind: 'step' | 'item', key: string) => {
      if (known.has(key)) return
      const publicId = newId(kind)
      const insert = database.query<{ id: number }, [string, number, string]>(
        `insert into ${kind}s (public_id, flow_id, key) values (?, ?, ?) returning id`,
      )
      const { id } = insert.get(publicId, this.flowId, key)!
      known.set(key, { id, publicId, key, title: null })
    }
    for (const { key } of steps) addTo(this.steps, 'step', key)
    for (const { key } of checklist?.items ?? []) addTo(this.items, 'item', key)
  }

  /** Notes how the newest version calls its steps, for answers about runs of older ones. */
  setTitles({ steps }: FlowDefinition): void {
    const set = this.database.query('update steps set title = ? where id = ?')
    for (const { key, title } of steps) {
      const step = this.steps.get(key)!
      if (step.title !== title) set.run(title, step.id)
    }
  }
}
