import type { Database } from 'bun:sqlite'
import type { Catalogue, PreparedBody } from '../../../core/organisation/catalogue.ts'
import type { InRows } from '../../shared/in-rows.ts'
import type { Awaited } from '../people/caused-events.ts'
import type {
  FlowEntry,
  ItemEntry,
  Organisation,
  PublishedFlows,
  SnippetKey,
  StepEntry,
} from './entries.ts'
import { CatalogueOrganisation, type LoadedKey } from './organisation.ts'
import { type CatalogueRows, catalogueRows } from './rows.ts'

/** How much is held at most by default, estimated bytes: ten thousand organisations with five flows each. */
const maxBytes = 192 * 1024 * 1024

/**
 * The catalogue over a database connection. An organisation is loaded on first use, and dropped when
 * `catalogue_changes` names it, or when so much is held that it has to make room. So memory depends on the
 * organisations that really have traffic, and random keys or ids leave nothing behind.
 */
export class StoredCatalogue implements InRows<Catalogue> {
  private readonly rows: CatalogueRows
  private readonly byRow = new Map<number, CatalogueOrganisation>()
  private readonly byKey = new Map<string, LoadedKey>()
  private readonly byName = new Map<string, CatalogueOrganisation>()
  private readonly flowsById = new Map<string, FlowEntry>()
  private readonly flowsByRow = new Map<number, FlowEntry>()
  private readonly stepsById = new Map<string, StepEntry>()
  private readonly itemsById = new Map<string, ItemEntry>()
  private bytes = 0
  private lastChange: number

  constructor(
    database: Database,
    private readonly most = maxBytes,
  ) {
    this.rows = catalogueRows(database)
    this.lastChange = this.rows.lastChange.get()?.seq ?? 0
  }

  /** Organisations in memory. */
  get size(): number {
    return this.byRow.size
  }

  /** Drops what has changed since the last call. */
  refresh(): void {
    for (const change of this.rows.changesSince.all(this.lastChange)) {
      this.lastChange = change.seq
      this.drop(change.org_id)
    }
  }

  snippetKey(text: string): SnippetKey | null {
    const known = this.byKey.get(text)
    if (known) {
      known.of.wasUsed = true
      return known
    }
    const row = this.rows.organisationByKey.get(text)
    return (row && this.load(row.org_id).keys.find(key => key.text === text)) ?? null
  }

  oldKeysEndAt(organisation: Organisation): number | null {
    const ends = this.load(organisation.ref).keys.flatMap(({ endsAt }) => endsAt ?? [])
    return ends.length > 0 ? Math.max(...ends) : null
  }

  organisationByName(idOrSlug: string): Organisation | null {
    const known = this.byName.get(idOrSlug)
    if (known) {
      known.wasUsed = true
      return known.organisation
    }
    const row = this.rows.organisationByName.get(idOrSlug, idOrSlug)
    return row ? this.load(row.id).organisation : null
  }

  flow(id: string): FlowEntry | null {
    return this.entry(id, this.flowsById, this.rows.ownerOfFlow)
  }

  step(id: string): StepEntry | null {
    return this.entry(id, this.stepsById, this.rows.ownerOfStep)
  }

  item(id: string): ItemEntry | null {
    return this.entry(id, this.itemsById, this.rows.ownerOfItem)
  }

  publishedFlows(organisation: Organisation): PublishedFlows {
    return this.load(organisation.ref).publishedFlows
  }

  publishedFlow(flow: FlowEntry): PreparedBody | null {
    return this.load(flow.organisation.ref).publishedFlow(flow.ref)
  }

  itemsCompletedBy(organisation: Organisation, eventName: string): readonly ItemEntry[] {
    return this.load(organisation.ref).itemsByEvent.get(eventName) ?? []
  }

  /** What published flows ask of custom events of a name; null if none asks. */
  awaited(organisation: Organisation, eventName: string): Awaited | null {
    return this.load(organisation.ref).awaited.get(eventName) ?? null
  }

  asksForEvents(organisation: Organisation): boolean {
    return this.load(organisation.ref).awaited.size > 0
  }

  /** For commands, which name their flow by row. */
  flowByRow(orgRow: number, flowRow: number): FlowEntry | null {
    if (!this.flowsByRow.has(flowRow)) this.load(orgRow)
    const flow = this.flowsByRow.get(flowRow)
    return flow?.organisation.ref === orgRow ? flow : null
  }

  /** For commands, which name their organisation by row. */
  organisationByRow(orgRow: number): Organisation {
    return this.load(orgRow).organisation
  }

  private entry<Entry>(
    id: string,
    known: Map<string, Entry>,
    owners: { get(id: string): { org_id: number } | null },
  ): Entry | null {
    const entry = known.get(id)
    if (entry) return entry
    const owner = owners.get(id)
    if (!owner) return null
    this.load(owner.org_id)
    return known.get(id) ?? null
  }

  private load(orgRow: number): CatalogueOrganisation {
    const known = this.byRow.get(orgRow)
    if (known) {
      known.wasUsed = true
      return known
    }
    const row = this.rows.organisation.get(orgRow)
    if (!row) throw new Error(`No organisation has row ${orgRow}`)
    this.makeRoom()
    const loaded = new CatalogueOrganisation(this.rows, row)
    this.bytes += loaded.bytes
    this.byRow.set(orgRow, loaded)
    this.byName.set(row.public_id, loaded).set(row.slug, loaded)
    for (const key of loaded.keys) this.byKey.set(key.text, key)
    for (const flow of loaded.flows) {
      this.flowsById.set(flow.id, flow)
      this.flowsByRow.set(flow.ref, flow)
    }
    for (const step of loaded.steps) this.stepsById.set(step.id, step)
    for (const item of loaded.items) this.itemsById.set(item.id, item)
    return loaded
  }

  /**
   * Drops the organisations that have been held longest, except those that were used since the
   * last search: they get a second chance, behind all others (Corbató's clock).
   */
  private makeRoom(): void {
    for (const [row, loaded] of this.byRow) {
      if (this.bytes < this.most) return
      if (!loaded.wasUsed) {
        this.drop(row)
        continue
      }
      loaded.wasUsed = false
      this.byRow.delete(row)
      this.byRow.set(row, loaded)
    }
  }

  private drop(orgRow: number): void {
    const loaded = this.byRow.get(orgRow)
    if (!loaded) return
    this.bytes -= loaded.bytes
    this.byRow.delete(orgRow)
    this.byName.delete(loaded.organisation.id)
    this.byName.delete(loaded.organisation.slug)
    for (const key of loaded.keys) this.byKey.delete(key.text)
    for (const flow of loaded.flows) {
      this.flowsById.delete(flow.id)
      this.flowsByRow.delete(flow.ref)
    }
    for (const step of loaded.steps) this.stepsById.delete(step.id)
    for (const item of loaded.items) this.itemsById.delete(item.id)
  }
}
