import type { Bucket } from './buckets.ts'
import type { Flow } from './flow.ts'

/**
 * What every request needs to know of organisations and their flows. It is held in memory by
 * each thread that answers requests, so reading it is synchronous and costs no statement.
 */

export interface Organisation {
  /** Row number; also its place in the tables that threads share. */
  row: number
  /** `org_…`. */
  id: string
  slug: string
  name: string
  limits: Record<Bucket, number>
  /** Origins that the snippet may run on; null where all may. */
  origins: ReadonlySet<string> | null
}

/** One frozen version of a flow: which steps and items it had, by row number, in order. */
export interface FlowVersion {
  version: number
  publishedAt: number
  stepRows: readonly number[]
  itemRows: readonly number[]
}

export interface FlowEntry {
  row: number
  /** `flow_…`. */
  id: string
  key: string
  name: string
  status: 'draft' | 'published' | 'archived'
  organisation: Organisation
  /** All that were ever published, ascending; empty for a flow that never was. */
  versions: readonly FlowVersion[]
  /** The newest version as callers see it; null where none was published. */
  latest: Flow | null
  /** What the steps of all versions are called, by row: the newest version that has one says it. */
  steps: ReadonlyMap<number, { id: string; key: string; title: string }>
  /** Row numbers of the steps and items of all versions, by id. */
  stepRows: ReadonlyMap<string, number>
  itemRows: ReadonlyMap<string, number>
}

export interface StepEntry {
  row: number
  id: string
  flow: FlowEntry
}

export interface ItemEntry {
  row: number
  id: string
  flow: FlowEntry
}

/** A body made once per publication, in every encoding that was asked for. */
export interface PreparedBody {
  text: string
  /** Of the text; an encoding's strong ETag is made from it. */
  hash: string
}

export interface Catalogue {
  /** By a snippet key that is current, or retired within its grace time. */
  organisationByKey(key: string, now: number): Organisation | null
  /** By id or slug. */
  organisationByName(idOrSlug: string): Organisation | null
  /** Any flow of any organisation: the caller compares the owner. */
  flow(id: string): FlowEntry | null
  /** A step of any version that was ever published. */
  step(id: string): StepEntry | null
  /** An item of any version that was ever published. */
  item(id: string): ItemEntry | null
  /** `{"flows": […], "version": …}` of the published flows, highest priority first, then key. */
  publishedFlows(organisation: Organisation): PreparedBody & { version: string }
  /** One published flow as callers see it. */
  publishedFlow(flow: FlowEntry): PreparedBody
  /** Items of published flows that a custom event of this name ticks. */
  itemsCompletedBy(organisation: Organisation, eventName: string): readonly ItemEntry[]
}

/** The number of a flow's version that callers see, or saw last; null for one never published. */
export function latestVersion(flow: FlowEntry): number | null {
  return flow.versions.at(-1)?.version ?? null
}
