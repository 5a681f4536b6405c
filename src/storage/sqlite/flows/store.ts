import type { Database } from 'bun:sqlite'
import type { FlowDefinition } from '../../../core/flow/flow.ts'
import { pageFlow } from '../../../core/flow/forms.ts'
import { runPartsOf } from '../../../core/flow/items.ts'
import { newId } from '../../../core/organisation/ids.ts'
import { isoTime } from '../../../core/time/clock.ts'
import { failpoint } from '../../../failpoints.ts'
import type { FlowChange, FlowChanges, StoredChange } from '../../interfaces/authoring.ts'
import type { InRows } from '../../shared/in-rows.ts'
import { announce, inTransaction, preparedOnce } from '../catalogue/change.ts'
import { writeAudit } from '../organisations/audit-log.ts'
import { revisionOf } from './reader.ts'

/** A step or an item that a flow has not had before. */
type NewPart = readonly [publicId: string, key: string]

/** A part by its row, or by its public id where it has none yet. */
type PartRef = number | string

/** A change of a flow, prepared as far as possible before the transaction, during which pages wait. */
interface PreparedChange extends Pick<FlowChange, 'key' | 'status' | 'origin'> {
  /** Null where it is new. */
  row: number | null
  publicId: string
  /** JSON. */
  draft: string | null
  steps: readonly NewPart[]
  items: readonly NewPart[]
  version: PreparedVersion | null
  /** Of the newest version so far. */
  publishedAt: number | null
}

interface PreparedVersion {
  version: number
  /** JSON. */
  definition: string
  /** The JSON that pages get: what stands before and after the time of its publication. */
  page: [before: string, after: string]
  steps: readonly PartRef[]
  items: readonly PartRef[]
  /** Titles that differ from those in the newest version so far. */
  titles: readonly [step: PartRef, title: string][]
}

/** Changes that apply only if the organisation is still as it was at their revision. */
export interface PreparedChanges extends Omit<InRows<FlowChanges>, 'changes'> {
  changes: readonly PreparedChange[]
}

/**
 * Prepares changes of flows as they will be written: making their texts takes longer than writing them,
 * and need not happen in the transaction. What it reads may be later than the revision; then the changes
 * are not applied. It yields after each change.
 */
export function* prepareChanges(
  database: Database,
  orgRow: number,
  { changes, ...rest }: InRows<FlowChanges>,
): Generator<undefined, PreparedChanges> {
  const prepared: PreparedChange[] = []
  for (const change of changes) {
    prepared.push(prepare(database, orgRow, change))
    yield
  }
  return { ...rest, changes: prepared }
}

function prepare(database: Database, orgRow: number, change: FlowChange): PreparedChange {
  const { draft, publish, ...fields } = change
  const sql = statements(database)
  const flow = sql.flow.get(orgRow, fields.key)
  const publicId = flow?.publicId ?? newId('flow')
  const newest = flow && sql.newestVersion.get(flow.id)
  const stored = partsOf(database, flow?.id ?? null)
  const definitions = [draft, publish].flatMap(definition => definition ?? [])
  const newParts = (kind: 'step' | 'item', parts: readonly { key: string }[]): NewPart[] =>
    parts.flatMap(({ key }) => {
      if (stored[kind].has(key)) return []
      const publicId = newId(kind)
      stored[kind].set(key, { ref: publicId, publicId, key, title: null })
      return [[publicId, key] as const]
    })
  const steps = definitions.flatMap(runPartsOf)
  const items = definitions.flatMap(({ checklist }) => checklist?.items ?? [])
  return {
    ...fields,
    row: flow?.id ?? null,
    publicId,
    draft: draft && JSON.stringify(draft),
    steps: newParts('step', steps),
    items: newParts('item', items),
    version: publish && versionOf(stored, publicId, publish, (newest?.version ?? 0) + 1),
    publishedAt: newest?.publishedAt ?? null,
  }
}

/** Stands in for the time of publication, which is only known in the transaction. */
const publishedAtStart = `"publishedAt":"${isoTime(0)}"`

function versionOf(
  stored: ReturnType<typeof partsOf>,
  id: string,
  definition: FlowDefinition,
  version: number,
): PreparedVersion {
  const { checklist } = definition
  const steps = runPartsOf(definition)
  const page = pageFlow(
    { version, publishedAt: 0, definition },
    {
      flow: () => id,
      step: key => stored.step.get(key)!.publicId,
      item: key => stored.item.get(key)!.publicId,
    },
  )
  const text = JSON.stringify(page)
  // A text of the author cannot look like it, because quotes in it are escaped.
  const at = text.indexOf(publishedAtStart)
  return {
    version,
    definition: JSON.stringify(definition),
    page: [text.slice(0, at), text.slice(at + publishedAtStart.length)],
    steps: steps.map(({ key }) => stored.step.get(key)!.ref),
    items: (checklist?.items ?? []).map(({ key }) => stored.item.get(key)!.ref),
    titles: steps.flatMap(({ key, title }): [PartRef, string][] => {
      const step = stored.step.get(key)!
      return step.title === title ? [] : [[step.ref, title]]
    }),
  }
}

/** Makes changes of flows, all or none: see `FlowStore.change`. */
export function changeFlows(
  database: Database,
  orgRow: number,
  { revision, changes, audit, witness }: PreparedChanges,
  now: () => number,
): StoredChange[] | null {
  return inTransaction(database, () => {
    if (revisionOf(database, orgRow) !== revision) return null
    const stored = changes.map(change => apply(database, orgRow, change, now))
    writeAudit(database, orgRow, audit)
    if (witness) writeAudit(database, witness.org, [witness.entry])
    // Also for drafts: an analyst sees a flow, and its name, before its first publication.
    announce(database, orgRow)
    failpoint('during_publish')
    return stored
  })
}

function apply(
  database: Database,
  orgRow: number,
  change: PreparedChange,
  now: () => number,
): StoredChange {
  const { key, publicId, status, draft, version, origin } = change
  const sql = statements(database)
  const row = change.row ?? sql.addFlow.get(publicId, orgRow, key, now())!.id
  const add = (kind: 'step' | 'item', parts: readonly NewPart[]) =>
    parts.map(([publicId, key]) => {
      const { id } = sql.addPart[kind].get(publicId, row, key)!
      return [publicId, id] as const
    })
  const added = new Map([...add('step', change.steps), ...add('item', change.items)])
  const rowOf = (part: PartRef) => (typeof part === 'number' ? part : added.get(part)!)
  const rowsOf = (parts: readonly PartRef[]) => JSON.stringify(parts.map(rowOf))
  // Read while nobody else can write, so that no stored event is later and still of the old version.
  const updatedAt = now()
  let { publishedAt } = change
  if (version) {
    // Strictly later than the version before, whatever the clock does, because it tells runs apart.
    publishedAt = Math.max(updatedAt, (publishedAt ?? 0) + 1)
    const page = version.page.join(`"publishedAt":"${isoTime(publishedAt)}"`)
    const parts = [rowsOf(version.steps), rowsOf(version.items)]
    sql.insertVersion.run(row, version.version, publishedAt, version.definition, page, ...parts)
    for (const [step, title] of version.titles) sql.setTitle.run(title, rowOf(step))
  }
  sql.setFlow.run(status, draft, updatedAt, orgRow, row)
  if (origin) {
    const source = origin.source && JSON.stringify(origin.source)
    sql.setOrigin.run(source, Number(origin.isLocked), orgRow, row)
  }
  return { id: publicId, key, updatedAt, publishedAt }
}

/**
 * The statements that change flows. They do not use Drizzle, which takes ten times as long: a push may
 * change thousands of rows in one transaction, and everything that pages report waits for it.
 */
const statements = preparedOnce((database: Database) => {
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
    // Without its definition, which takes longest to read.
    newestVersion: database.query<{ version: number; publishedAt: number }, [number]>(
      `select version, published_at as publishedAt from flow_versions where flow_id = ?
      order by version desc limit 1`,
    ),
    insertVersion: database.query(
      `insert into flow_versions (flow_id, version, published_at, definition, page, step_rows, item_rows)
      values (?, ?, ?, ?, ?, ?, ?)`,
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
function partsOf(database: Database, flowRow: number | null) {
  const { step, item } = statements(database).parts
  const byKey = (parts: Part[]) => new Map(parts.map(part => [part.key, part]))
  return { step: byKey(step.all(flowRow)), item: byKey(item.all(flowRow)) }
}
