import type { Database } from 'bun:sqlite'
import { type Bucket, limitsWith } from '../core/buckets.ts'
import type {
  Catalogue,
  FlowEntry,
  FlowVersion,
  ItemEntry,
  Organisation,
  PreparedBody,
  SnippetKey,
  StepEntry,
} from '../core/catalogue.ts'
import type { Flow } from '../core/flow.ts'

interface OrganisationRow {
  id: number
  public_id: string
  slug: string
  name: string
  limits: string
  origins: string
}

interface FlowRow {
  id: number
  public_id: string
  key: string
  status: FlowEntry['status']
  draft: string | null
}

interface VersionRow {
  flow_id: number
  version: number
  published_at: number
  step_rows: string
  item_rows: string
  /** Of the newest version alone. */
  body: string | null
}

interface PartRow {
  id: number
  public_id: string
  flow_id: number
  key: string
  title: string | null
}

/** All of one organisation that requests ask for, loaded and dropped as a whole. */
interface Loaded {
  organisation: Organisation
  keys: Map<string, SnippetKey>
  flows: FlowEntry[]
  steps: StepEntry[]
  items: ItemEntry[]
  /** The stored text of each published flow, by row. */
  texts: Map<number, string>
  list: (PreparedBody & { version: string; count: number }) | null
  bodies: Map<number, PreparedBody>
  itemsByEvent: Map<string, ItemEntry[]>
}

const hashOf = (text: string) => Bun.hash.xxHash64(text).toString(36)

function statements(database: Database) {
  const one = <Row, Params extends [number] | [string]>(sql: string) =>
    database.query<Row, Params>(sql)
  return {
    organisation: one<OrganisationRow, [number]>(
      'select id, public_id, slug, name, limits, origins from organisations where id = ?',
    ),
    organisationByName: database.query<{ id: number }, [string, string]>(
      'select id from organisations where public_id = ? or slug = ?',
    ),
    organisationByKey: one<{ org_id: number }, [string]>(
      'select org_id from snippet_keys where key = ?',
    ),
    keys: one<{ key: string; retired_at: number | null }, [number]>(
      'select key, retired_at from snippet_keys where org_id = ?',
    ),
    flows: one<FlowRow, [number]>(
      'select id, public_id, key, status, draft from flows where org_id = ?',
    ),
    versions: one<VersionRow, [number]>(
      // Of old versions only the order of their parts is asked for, never the text.
      `select v.flow_id, v.version, v.published_at, v.step_rows, v.item_rows,
        case when v.version = max(v.version) over (partition by v.flow_id) then v.body end as body
      from flow_versions v join flows f on f.id = v.flow_id
      where f.org_id = ? order by v.flow_id, v.version`,
    ),
    steps: one<PartRow, [number]>(
      `select s.id, s.public_id, s.flow_id, s.key, s.title
      from steps s join flows f on f.id = s.flow_id where f.org_id = ?`,
    ),
    items: one<PartRow, [number]>(
      `select i.id, i.public_id, i.flow_id, i.key, null as title
      from items i join flows f on f.id = i.flow_id where f.org_id = ?`,
    ),
    ownerOfFlow: one<{ org_id: number }, [string]>('select org_id from flows where public_id = ?'),
    ownerOfStep: one<{ org_id: number }, [string]>(
      `select f.org_id from steps s join flows f on f.id = s.flow_id where s.public_id = ?`,
    ),
    ownerOfItem: one<{ org_id: number }, [string]>(
      `select f.org_id from items i join flows f on f.id = i.flow_id where i.public_id = ?`,
    ),
    lastChange: database.query<{ seq: number }, []>(
      'select coalesce(max(seq), 0) as seq from catalogue_changes',
    ),
    changesSince: one<{ seq: number; org_id: number }, [number]>(
      'select seq, org_id from catalogue_changes where seq > ? order by seq',
    ),
  }
}

/**
 * The catalogue over a database connection. An organisation is loaded when it is first asked
 * for, and dropped when `catalogue_changes` names it: memory follows the organisations that
 * really have traffic, and random keys or ids leave nothing behind.
 */
export class StoredCatalogue implements Catalogue {
  private readonly sql: ReturnType<typeof statements>
  private readonly byRow = new Map<number, Loaded>()
  private readonly byKey = new Map<string, SnippetKey>()
  private readonly byName = new Map<string, Loaded>()
  private readonly flowsById = new Map<string, FlowEntry>()
  private readonly stepsById = new Map<string, StepEntry>()
  private readonly itemsById = new Map<string, ItemEntry>()
  private lastChange: number

  constructor(database: Database) {
    this.sql = statements(database)
    this.lastChange = this.sql.lastChange.get()?.seq ?? 0
  }

  /** Drops what has changed since the last call. */
  refresh(): void {
    for (const change of this.sql.changesSince.all(this.lastChange)) {
      this.lastChange = change.seq
      this.drop(change.org_id)
    }
  }

  snippetKey(text: string): SnippetKey | null {
    const known = this.byKey.get(text)
    if (known) return known
    const row = this.sql.organisationByKey.get(text)
    return (row && this.load(row.org_id).keys.get(text)) ?? null
  }

  oldKeysEndAt(organisation: Organisation): number | null {
    const ends = [...this.load(organisation.row).keys.values()].flatMap(key => key.endsAt ?? [])
    return ends.length > 0 ? Math.max(...ends) : null
  }

  organisationByName(idOrSlug: string): Organisation | null {
    const known = this.byName.get(idOrSlug)
    if (known) return known.organisation
    const row = this.sql.organisationByName.get(idOrSlug, idOrSlug)
    return row ? this.load(row.id).organisation : null
  }

  flow(id: string): FlowEntry | null {
    return this.part(id, this.flowsById, this.sql.ownerOfFlow)
  }

  step(id: string): StepEntry | null {
    return this.part(id, this.stepsById, this.sql.ownerOfStep)
  }

  item(id: string): ItemEntry | null {
    return this.part(id, this.itemsById, this.sql.ownerOfItem)
  }

  publishedFlows(organisation: Organisation): PreparedBody & { version: string; count: number } {
    const loaded = this.load(organisation.row)
    if (loaded.list) return loaded.list
    const texts = loaded.flows
      .filter(flow => flow.status === 'published' && flow.latest)
      .sort(
        (a, b) => (b.latest?.priority ?? 0) - (a.latest?.priority ?? 0) || (a.key < b.key ? -1 : 1),
      )
      .map(flow => loaded.texts.get(flow.row))
    const flows = `[${texts.join(',')}]`
    const version = hashOf(flows)
    const text = `{"flows":${flows},"version":"${version}"}`
    loaded.list = { text, hash: version, version, count: texts.length }
    return loaded.list
  }

  publishedFlow(flow: FlowEntry): PreparedBody | null {
    const { bodies, texts } = this.load(flow.organisation.row)
    const known = bodies.get(flow.row)
    if (known) return known
    const text = texts.get(flow.row)
    if (text === undefined) return null
    const body = { text, hash: hashOf(text) }
    bodies.set(flow.row, body)
    return body
  }

  itemsCompletedBy(organisation: Organisation, eventName: string): readonly ItemEntry[] {
    return this.load(organisation.row).itemsByEvent.get(eventName) ?? []
  }

  /** By row, for commands that name their flow so. */
  flowByRow(orgRow: number, flowRow: number): FlowEntry | null {
    return this.load(orgRow).flows.find(flow => flow.row === flowRow) ?? null
  }

  /** By row, for commands that name their organisation so. */
  organisationByRow(orgRow: number): Organisation {
    return this.load(orgRow).organisation
  }

  private part<Entry>(
    id: string,
    known: Map<string, Entry>,
    owner: { get(id: string): { org_id: number } | null },
  ): Entry | null {
    const entry = known.get(id)
    if (entry) return entry
    const row = owner.get(id)
    if (!row) return null
    this.load(row.org_id)
    return known.get(id) ?? null
  }

  private load(orgRow: number): Loaded {
    const known = this.byRow.get(orgRow)
    if (known) return known
    const row = this.sql.organisation.get(orgRow)
    if (!row) throw new Error(`No organisation has row ${orgRow}`)
    const loaded = this.assemble(row)
    this.byRow.set(orgRow, loaded)
    this.byName.set(row.public_id, loaded).set(row.slug, loaded)
    for (const [text, key] of loaded.keys) this.byKey.set(text, key)
    for (const flow of loaded.flows) this.flowsById.set(flow.id, flow)
    for (const step of loaded.steps) this.stepsById.set(step.id, step)
    for (const item of loaded.items) this.itemsById.set(item.id, item)
    return loaded
  }

  private drop(orgRow: number): void {
    const loaded = this.byRow.get(orgRow)
    if (!loaded) return
    this.byRow.delete(orgRow)
    this.byName.delete(loaded.organisation.id)
    this.byName.delete(loaded.organisation.slug)
    for (const text of loaded.keys.keys()) this.byKey.delete(text)
    for (const flow of loaded.flows) this.flowsById.delete(flow.id)
    for (const step of loaded.steps) this.stepsById.delete(step.id)
    for (const item of loaded.items) this.itemsById.delete(item.id)
  }

  private assemble(row: OrganisationRow): Loaded {
    const origins: string[] = JSON.parse(row.origins)
    const organisation: Organisation = {
      row: row.id,
      id: row.public_id,
      slug: row.slug,
      name: row.name,
      limits: limitsWith(JSON.parse(row.limits) as Partial<Record<Bucket, number>>),
      origins: origins.length > 0 ? new Set(origins) : null,
    }
    const loaded: Loaded = {
      organisation,
      keys: new Map(
        this.sql.keys
          .all(row.id)
          .map(({ key, retired_at }) => [key, { organisation, endsAt: retired_at }]),
      ),
      flows: [],
      steps: [],
      items: [],
      texts: new Map(),
      list: null,
      bodies: new Map(),
      itemsByEvent: new Map(),
    }
    const versions = Map.groupBy(this.sql.versions.all(row.id), version => version.flow_id)
    const steps = Map.groupBy(this.sql.steps.all(row.id), step => step.flow_id)
    const items = Map.groupBy(this.sql.items.all(row.id), item => item.flow_id)
    for (const flow of this.sql.flows.all(row.id)) {
      this.addFlow(loaded, flow, {
        versions: versions.get(flow.id) ?? [],
        steps: steps.get(flow.id) ?? [],
        items: items.get(flow.id) ?? [],
      })
    }
    return loaded
  }

  private addFlow(
    loaded: Loaded,
    row: FlowRow,
    parts: { versions: VersionRow[]; steps: PartRow[]; items: PartRow[] },
  ): void {
    const stepRows = new Map(parts.steps.map(step => [step.public_id, step.id]))
    const itemRows = new Map(parts.items.map(item => [item.public_id, item.id]))
    const versions = parts.versions.map(
      (version): FlowVersion => ({
        version: version.version,
        publishedAt: version.published_at,
        stepRows: JSON.parse(version.step_rows),
        itemRows: JSON.parse(version.item_rows),
      }),
    )
    const text = parts.versions.at(-1)?.body ?? null
    const latest = text === null ? null : (JSON.parse(text) as Flow)
    const everPublished = {
      steps: new Set(versions.flatMap(version => version.stepRows)),
      items: new Set(versions.flatMap(version => version.itemRows)),
    }
    const flow: FlowEntry = {
      row: row.id,
      id: row.public_id,
      key: row.key,
      name: latest?.name ?? (row.draft ? JSON.parse(row.draft).name : row.key),
      status: row.status,
      organisation: loaded.organisation,
      versions,
      latest,
      steps: new Map(
        parts.steps
          .filter(step => everPublished.steps.has(step.id))
          .map(({ id, public_id, key, title }) => [id, { id: public_id, key, title: title ?? '' }]),
      ),
      stepRows,
      itemRows,
    }
    loaded.flows.push(flow)
    for (const { id: row, public_id: id } of parts.steps) {
      loaded.steps.push({ row, id, flow, isPublished: everPublished.steps.has(row) })
    }
    for (const { id: row, public_id: id } of parts.items) {
      loaded.items.push({ row, id, flow, isPublished: everPublished.items.has(row) })
    }
    if (row.status !== 'published' || text === null || latest === null) return
    loaded.texts.set(row.id, text)
    for (const item of latest.checklist?.items ?? []) {
      const event = item.completeOn?.event
      if (event === undefined) continue
      const ticked = loaded.itemsByEvent.get(event) ?? []
      ticked.push({ row: itemRows.get(item.id) as number, id: item.id, flow, isPublished: true })
      loaded.itemsByEvent.set(event, ticked)
    }
  }
}
