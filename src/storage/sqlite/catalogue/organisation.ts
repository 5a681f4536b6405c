import { type Bucket, limitsWith } from '../../../core/organisation/buckets.ts'
import type { PreparedBody } from '../../../core/organisation/catalogue.ts'
import { FlowBody, FlowListBody } from '../flows/bodies.ts'
import type { Asked } from '../people/caused-events.ts'
import type { FlowVersion, ItemEntry, Organisation, SnippetKey, StepEntry } from './entries.ts'
import { CatalogueFlow } from './flow.ts'
import type { CatalogueRows, OrganisationRow, PartRow } from './rows.ts'

/** A snippet key that knows its loaded organisation. */
export interface LoadedKey extends SnippetKey {
  text: string
  of: CatalogueOrganisation
}

/** The steps and items of an organisation's flows. */
export interface PartEntries {
  steps: readonly StepEntry[]
  items: readonly ItemEntry[]
}

/** Memory of an organisation, of a flow, and of a step or an item, bytes; measured, and rounded up. */
const organisationBytes = 1_500
const flowBytes = 700
const partBytes = 200

type ItemsByEvent = ReadonlyMap<string, readonly ItemEntry[]>
type AskedByEvent = ReadonlyMap<string, Asked>

/** Shared, because most organisations have the usual limits and no item that an event ticks. */
const limitsByText = new Map<string, Organisation['limits']>()
const mostKnownLimits = 1_000
const noEvents: ItemsByEvent = new Map()
const nothingAsked: AskedByEvent = new Map()

function limitsIn(text: string): Organisation['limits'] {
  const known = limitsByText.get(text)
  if (known) return known
  if (limitsByText.size >= mostKnownLimits) limitsByText.clear()
  const limits = limitsWith(JSON.parse(text) as Partial<Record<Bucket, number>>)
  limitsByText.set(text, limits)
  return limits
}

function identityOf(rows: CatalogueRows, row: OrganisationRow): Organisation['identity'] {
  const { id, identity_mode: mode } = row
  if (mode === 'off') return null
  return { isEnforced: mode === 'enforce', secrets: rows.identitySecrets.all(id) }
}

function organisationOf(rows: CatalogueRows, row: OrganisationRow): Organisation {
  const origins: string[] = JSON.parse(row.origins)
  return {
    ref: row.id,
    id: row.public_id,
    slug: row.slug,
    name: row.name,
    limits: limitsIn(row.limits),
    origins: origins.length > 0 ? new Set(origins) : null,
    retentionDays: row.retention_days,
    identity: identityOf(rows, row),
    honoursDoNotTrack: row.honours_do_not_track === 1,
    timezone: row.timezone,
    traits: JSON.parse(row.traits),
    theme: row.theme === null ? null : JSON.parse(row.theme),
    throttle: row.throttle,
  }
}

/**
 * One organisation in memory: its own data, its keys, and as much of its flows as has been asked for.
 * It is dropped as a whole, so that what is read later is never older than what was read before.
 */
export class CatalogueOrganisation {
  readonly organisation: Organisation
  readonly keys: readonly LoadedKey[]
  /** Whether it was asked for again since the last search for an organisation to drop. */
  wasAsked = false
  /** What it took when it was last weighed, bytes. */
  weighed = 0
  private knownFlows: readonly CatalogueFlow[] | null = null
  private knownParts: PartEntries | null = null
  private list: FlowListBody | null = null
  private readonly bodies = new Map<number, FlowBody>()
  /** Characters of the bodies that were asked for. Whoever compresses them keeps about as much or less. */
  private bodyLength = 0
  private itemsByEvent: ItemsByEvent | null = null
  private knownAsked: AskedByEvent | null = null

  constructor(
    private readonly rows: CatalogueRows,
    row: OrganisationRow,
  ) {
    const organisation = organisationOf(rows, row)
    this.organisation = organisation
    this.keys = rows.keys
      .all(row.id)
      .map(({ key, retired_at }) => ({ text: key, organisation, endsAt: retired_at, of: this }))
  }

  get flows(): readonly CatalogueFlow[] {
    this.knownFlows ??= this.readFlows()
    return this.knownFlows
  }

  get parts(): PartEntries {
    const { rows, organisation } = this
    this.knownParts ??= {
      steps: this.entries(rows.steps.all(organisation.ref), ({ stepRefs }) => stepRefs),
      items: this.entries(rows.items.all(organisation.ref), ({ itemRefs }) => itemRefs),
    }
    return this.knownParts
  }

  /** What has been read so far, and has to be dropped with the organisation. */
  get known(): { flows: readonly CatalogueFlow[]; parts: PartEntries | null } {
    return { flows: this.knownFlows ?? [], parts: this.knownParts }
  }

  /**
   * Estimates how much memory it takes now. Its list counts as text, which is kept for whoever wants it
   * uncompressed; compressed in all ways it takes less.
   *
   * @returns how much more that is than before, bytes
   */
  weigh(): number {
    const { flows, parts } = this.known
    const count = parts ? parts.steps.length + parts.items.length : 0
    const before = this.weighed
    this.weighed =
      organisationBytes + this.bodyLength + flows.length * flowBytes + count * partBytes
    return this.weighed - before
  }

  get publishedFlows(): FlowListBody {
    this.list ??= this.noted(this.newList())
    return this.list
  }

  private newList(): FlowListBody {
    const asksForEvents = [...this.asked.values()].some(({ most }) => most > 0)
    return new FlowListBody(this.rows, this.organisation, asksForEvents)
  }

  publishedFlow(flowRow: number): PreparedBody | null {
    const known = this.bodies.get(flowRow)
    if (known) return known
    const flow = this.flows.find(({ ref }) => ref === flowRow)
    const version = flow?.versions.at(-1)?.version
    if (flow?.status !== 'published' || version === undefined) return null
    const body = this.noted(new FlowBody(this.rows, { flow_id: flowRow, version }))
    this.bodies.set(flowRow, body)
    return body
  }

  private noted<Body extends FlowBody | FlowListBody>(body: Body): Body {
    this.bodyLength += body.length
    return body
  }

  itemsCompletedBy(eventName: string): readonly ItemEntry[] {
    this.itemsByEvent ??= this.readItemsByEvent()
    return this.itemsByEvent.get(eventName) ?? []
  }

  /** What published flows ask of custom events, by name. */
  get asked(): AskedByEvent {
    this.knownAsked ??= this.readAsked()
    return this.knownAsked
  }

  private readAsked(): AskedByEvent {
    const asked = new Map<string, Asked>()
    const of = (name: string) => asked.get(name) ?? { most: 0, goalOf: [] }
    for (const { flow_id, event, count, goal } of this.rows.asked.all(this.organisation.ref)) {
      if (event !== null) {
        const before = of(event)
        asked.set(event, { ...before, most: Math.max(before.most, count ?? 1) })
      }
      if (goal !== null) {
        const before = of(goal)
        asked.set(goal, { ...before, goalOf: [...before.goalOf, flow_id] })
      }
    }
    return asked.size > 0 ? asked : nothingAsked
  }

  private readFlows(): readonly CatalogueFlow[] {
    const { rows, organisation } = this
    const versions = Map.groupBy(rows.versions.all(organisation.ref), ({ flow_id }) => flow_id)
    return rows.flows
      .all(organisation.ref)
      .map(flow => new CatalogueFlow(rows, organisation, flow, versions.get(flow.ref) ?? []))
  }

  private entries(
    parts: readonly PartRow[],
    rowsOf: (version: FlowVersion) => readonly number[],
  ): StepEntry[] {
    const byRow = new Map(
      this.flows.map(flow => [
        flow.ref,
        { flow, published: new Set(flow.versions.flatMap(version => rowsOf(version))) },
      ]),
    )
    return parts.flatMap(({ id: ref, public_id: id, flow_id }) => {
      const of = byRow.get(flow_id)
      return of ? [{ ref, id, flow: of.flow, isPublished: of.published.has(ref) }] : []
    })
  }

  private readItemsByEvent(): ItemsByEvent {
    const byEvent = new Map<string, ItemEntry[]>()
    for (const flow of this.flows) {
      const hasItems = (flow.versions.at(-1)?.itemRefs.length ?? 0) > 0
      if (flow.status !== 'published' || !hasItems) continue
      for (const { id, completeOn } of flow.latest?.checklist?.items ?? []) {
        const ref = flow.itemRefs.get(id)
        if (completeOn === null || ref === undefined) continue
        const ticked = byEvent.get(completeOn.event) ?? []
        ticked.push({ ref, id, flow, isPublished: true })
        byEvent.set(completeOn.event, ticked)
      }
    }
    return byEvent.size > 0 ? byEvent : noEvents
  }
}
