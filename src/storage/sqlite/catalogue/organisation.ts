import { type Bucket, limitsWith } from '../../../core/organisation/limits.ts'
import { FlowBody, FlowListBody } from '../flows/bodies.ts'
import type { Awaited } from '../people/caused-events.ts'
import type { FlowVersion, ItemEntry, Organisation, SnippetKey, StepEntry } from './entries.ts'
import { CatalogueFlow } from './flow.ts'
import type { CatalogueRows, OrganisationRow, PartRow } from './rows.ts'

/** A snippet key that knows its loaded organisation. */
export interface LoadedKey extends SnippetKey {
  text: string
  of: CatalogueOrganisation
}

/** Memory of an organisation, of a flow, and of a step or an item, bytes; measured, and rounded up. */
const organisationBytes = 1_500
const flowBytes = 700
const partBytes = 200

function organisationOf(rows: CatalogueRows, row: OrganisationRow): Organisation {
  const { id, identity_mode: mode } = row
  const origins: string[] = JSON.parse(row.origins)
  return {
    ref: id,
    id: row.public_id,
    slug: row.slug,
    name: row.name,
    limits: limitsWith(JSON.parse(row.limits) as Partial<Record<Bucket, number>>),
    origins: origins.length > 0 ? new Set(origins) : null,
    retentionDays: row.retention_days,
    identity:
      mode === 'off'
        ? null
        : { isEnforced: mode === 'enforce', secrets: rows.identitySecrets.all(id) },
    honoursDoNotTrack: row.honours_do_not_track === 1,
    timezone: row.timezone,
    traits: JSON.parse(row.traits),
    theme: row.theme === null ? null : JSON.parse(row.theme),
    throttle: row.throttle,
  }
}

/**
 * One organisation in memory: its own data, its keys and its flows. It is dropped as a whole, so that what is read
 * later is never older than what was read before.
 */
export class CatalogueOrganisation {
  readonly organisation: Organisation
  readonly keys: readonly LoadedKey[]
  readonly flows: readonly CatalogueFlow[]
  readonly steps: readonly StepEntry[]
  readonly items: readonly ItemEntry[]
  /** What published flows ask of custom events, by name. */
  readonly awaited: ReadonlyMap<string, Awaited>
  /** Items of published flows that a custom event ticks, by its name. */
  readonly itemsByEvent: ReadonlyMap<string, readonly ItemEntry[]>
  /**
   * Estimates how much memory it takes. What is published counts as text, which is kept for whoever wants it
   * uncompressed; whoever compresses it keeps less.
   */
  readonly bytes: number
  /** Whether it was used since the last search for an organisation to drop. */
  wasUsed = false
  private list: FlowListBody | null = null
  private readonly bodies = new Map<number, FlowBody>()

  constructor(
    private readonly rows: CatalogueRows,
    row: OrganisationRow,
  ) {
    const { id } = row
    const organisation = organisationOf(rows, row)
    this.organisation = organisation
    this.keys = rows.keys
      .all(id)
      .map(({ key, retired_at }) => ({ text: key, organisation, endsAt: retired_at, of: this }))
    const versions = Map.groupBy(rows.versions.all(id), ({ flow_id }) => flow_id)
    this.flows = rows.flows
      .all(id)
      .map(flow => new CatalogueFlow(rows, organisation, flow, versions.get(flow.ref) ?? []))
    this.steps = this.entries(rows.steps.all(id), ({ stepRefs }) => stepRefs)
    this.items = this.entries(rows.items.all(id), ({ itemRefs }) => itemRefs)
    this.bytes =
      organisationBytes +
      this.flows.length * flowBytes +
      (this.steps.length + this.items.length) * partBytes +
      2 * rows.publishedBytes.get(id)!.bytes
    this.awaited = awaitedIn(rows, id)
    const items = new Map(this.items.map(item => [item.id, item]))
    const ticked = rows.itemsByEvent.all(id).flatMap(({ event, item }) => {
      const entry = items.get(item)
      return entry ? [{ event, entry }] : []
    })
    this.itemsByEvent = new Map(
      [...Map.groupBy(ticked, ({ event }) => event)].map(([event, of]) => [
        event,
        of.map(({ entry }) => entry),
      ]),
    )
  }

  get publishedFlows(): FlowListBody {
    const { rows, organisation } = this
    const asksForEvents = () => [...this.awaited.values()].some(({ max }) => max > 0)
    this.list ??= new FlowListBody(rows, organisation, asksForEvents())
    return this.list
  }

  publishedFlow(flowRow: number): FlowBody | null {
    const known = this.bodies.get(flowRow)
    if (known) return known
    const flow = this.flows.find(({ ref }) => ref === flowRow)
    const version = flow?.versions.at(-1)?.version
    if (flow?.status !== 'published' || version === undefined) return null
    const body = new FlowBody(this.rows, { flow_id: flowRow, version })
    this.bodies.set(flowRow, body)
    return body
  }

  private entries(
    parts: readonly PartRow[],
    rowsOf: (version: FlowVersion) => readonly number[],
  ): StepEntry[] {
    const byRow = new Map(
      this.flows.map(flow => [
        flow.ref,
        { flow, published: new Set(flow.versions.flatMap(rowsOf)) },
      ]),
    )
    return parts.flatMap(({ id: ref, public_id: id, flow_id }) => {
      const of = byRow.get(flow_id)
      return of ? [{ ref, id, flow: of.flow, isPublished: of.published.has(ref) }] : []
    })
  }
}

function awaitedIn(rows: CatalogueRows, orgRow: number): ReadonlyMap<string, Awaited> {
  const awaited = new Map<string, Awaited>()
  const of = (name: string) => awaited.get(name) ?? { max: 0, goalOf: [] }
  for (const { flow_id, event, count, goal } of rows.awaited.all(orgRow)) {
    if (event !== null) {
      const before = of(event)
      awaited.set(event, { ...before, max: Math.max(before.max, count ?? 1) })
    }
    if (goal !== null) {
      const before = of(goal)
      awaited.set(goal, { ...before, goalOf: [...before.goalOf, flow_id] })
    }
  }
  return awaited
}
