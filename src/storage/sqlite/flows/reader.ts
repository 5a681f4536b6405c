import type { Database } from 'bun:sqlite'
import type { StoredVersion } from '../../../core/flow/forms.ts'
import { atOnce, inSlices, patientSlices } from '../../../scheduling/cooperative.ts'
import type {
  AuthoredFlow,
  FlowsRead,
  PublishedParts,
  VersionRecord,
} from '../../interfaces/authoring.ts'
import { preparedOnce } from '../catalogue/change.ts'

/** A flow with its newest version; `draft`, `source` and `definition` are JSON. */
interface FlowRow {
  id: number
  publicId: string
  key: string
  status: AuthoredFlow['status']
  draft: string | null
  updatedAt: number
  source: string | null
  isLocked: 0 | 1
}

interface VersionRow {
  version: number
  publishedAt: number
  definition: string
}

/** They do not use Drizzle, which takes longer to make of a flow's text what it is than SQLite to read it. */
const statements = preparedOnce((database: Database) => {
  const keysIn = (table: string, rows: string) =>
    database.query<{ key: string }, [number, string]>(
      `select distinct p.key from flows f join flow_versions v on v.flow_id = f.id,
          json_each(v.${rows}) as part join ${table} p on p.id = part.value
      where f.org_id = ? and f.key = ? order by p.id`,
    )
  const ofFlow = 'flow_versions v join flows f on f.id = v.flow_id where f.org_id = ? and f.key = ?'
  return {
    flow: database.query<FlowRow, [number, string]>(
      `select id, public_id as publicId, key, status, draft, updated_at as updatedAt, source,
        is_locked as isLocked from flows where org_id = ? and key = ?`,
    ),
    keys: database.query<{ key: string }, [number]>(
      'select key from flows where org_id = ? order by key',
    ),
    inUse: database.query<{ count: number }, [number]>(
      "select count(*) as count from flows where org_id = ? and status <> 'archived'",
    ),
    revision: database.query<{ seq: number }, [number]>(
      'select coalesce(max(seq), 0) as seq from catalogue_changes where org_id = ?',
    ),
    newestVersion: database.query<VersionRow, [number]>(
      `select version, published_at as publishedAt, definition from flow_versions where flow_id = ?
      order by version desc limit 1`,
    ),
    version: database.query<VersionRow, [number, string, number]>(
      `select v.version, v.published_at as publishedAt, v.definition from ${ofFlow} and v.version = ?`,
    ),
    versions: database.query<Omit<VersionRecord, 'publishedBy' | 'note'>, [number, string]>(
      `select v.version, v.published_at as publishedAt, json_array_length(v.step_rows) as stepCount,
        json_array_length(v.item_rows) as itemCount from ${ofFlow} order by v.version desc`,
    ),
    // Showing a version again, or making it only a draft, is no new version.
    publishers: database.query<
      { version: number; note: string | null } & NonNullable<VersionRecord['publishedBy']>,
      [number, string]
    >(
      `select after ->> '$.version' as version, actor as name, via, note from audit_log
      where org_id = ? and subject = ?
        and action in ('flow.publish', 'flow.push_and_publish', 'flow.restore')
        and before ->> '$.version' is not after ->> '$.version'
      order by id`,
    ),
    stepKeys: keysIn('steps', 'step_rows'),
    itemKeys: keysIn('items', 'item_rows'),
  }
})

/** The newest change of an organisation; 0 before the first. */
export const revisionOf = (database: Database, orgRow: number): number =>
  statements(database).revision.get(orgRow)!.seq

const versionFrom = ({ definition, ...row }: VersionRow): StoredVersion => ({
  ...row,
  definition: JSON.parse(definition),
})

/** A flow's row with its newest version. */
function authoredFlow(database: Database, row: FlowRow): AuthoredFlow {
  const newest = statements(database).newestVersion.get(row.id)
  const { publicId: id, key, status, draft, updatedAt, source, isLocked } = row
  return {
    ...{ id, key, status, updatedAt, isLocked: isLocked === 1 },
    draft: draft === null ? null : JSON.parse(draft),
    source: source === null ? null : JSON.parse(source),
    newest: newest && versionFrom(newest),
  }
}

function* flowsOf(
  database: Database,
  orgRow: number,
  keys?: readonly string[],
): Generator<undefined, FlowsRead> {
  const sql = statements(database)
  const revision = revisionOf(database, orgRow)
  const inUse = sql.inUse.get(orgRow)!.count
  const read: AuthoredFlow[] = []
  for (const key of keys?.toSorted() ?? sql.keys.all(orgRow).map(({ key }) => key)) {
    const row = sql.flow.get(orgRow, key)
    if (row) read.push(authoredFlow(database, row))
    yield
  }
  return { revision, flows: read, inUse }
}

/** Flows of an organisation as of one moment: see `FlowStore.read`. */
export const readFlows = (database: Database, orgRow: number, keys?: readonly string[]) =>
  database.transaction(() => atOnce(flowsOf(database, orgRow, keys)))()

/** How often they are read in slices, in case somebody changes them meanwhile. */
const maxTries = 3

/** The same without holding up the thread. */
export async function readFlowsInSlices(
  database: Database,
  orgRow: number,
  keys?: readonly string[],
): Promise<FlowsRead> {
  for (let tries = 1; tries <= maxTries; tries++) {
    const read = await inSlices(flowsOf(database, orgRow, keys), patientSlices())
    if (revisionOf(database, orgRow) === read.revision) return read
  }
  return readFlows(database, orgRow, keys)
}

/** See `FlowStore.versions`; who published which, as far as the audit log says. */
export function flowVersionsOf(database: Database, orgRow: number, key: string): VersionRecord[] {
  const sql = statements(database)
  const lines = new Map(sql.publishers.all(orgRow, key).map(line => [line.version, line]))
  return sql.versions.all(orgRow, key).map(row => {
    const line = lines.get(row.version)
    const publishedBy = line ? { name: line.name, via: line.via } : null
    return { ...row, publishedBy, note: line?.note ?? null }
  })
}

/** See `FlowStore.version`. */
export function flowVersionOf(
  database: Database,
  orgRow: number,
  key: string,
  version: number,
): StoredVersion | null {
  const found = statements(database).version.get(orgRow, key, version)
  return found && versionFrom(found)
}

/** See `FlowStore.publishedParts`. */
export function publishedParts(database: Database, orgRow: number, key: string): PublishedParts {
  const { stepKeys, itemKeys } = statements(database)
  const keysOf = (rows: readonly { key: string }[]) => rows.map(({ key }) => key)
  return {
    stepKeys: keysOf(stepKeys.all(orgRow, key)),
    itemKeys: keysOf(itemKeys.all(orgRow, key)),
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
