import type { Flow, FlowDefinition, FlowStatus } from '../flow/flow.ts'
import type { Question } from '../flow/question.ts'
import type { Theme } from '../flow/theme.ts'
import type { FlowRef, ItemRef, OrganisationRef, StepRef } from '../reference.ts'
import { dayMs } from '../time/durations.ts'
import type { Bucket } from './limits.ts'
import type { VerifiedIdentity } from './verified-identity.ts'

/**
 * What every request needs to know about organisations and their flows, kept in memory. An organisation only
 * costs statements when it is first needed, has changed, or has not been needed in a long time.
 */

export interface Organisation {
  ref: OrganisationRef
  /** `org_…`. */
  id: string
  slug: string
  name: string
  /** Requests per window, by bucket. */
  limits: Record<Bucket, number>
  /** Origins that the snippet may run on; null if it may run on all. */
  origins: ReadonlySet<string> | null
  /** For how many days events are accepted and kept; null to use the server's setting. */
  retentionDays: number | null
  /** How user ids are verified; null if they are not. */
  identity: VerifiedIdentity | null
  /** Whether the snippet respects browsers that ask not to be tracked. */
  honoursDoNotTrack: boolean
  /** The time zone of the dashboard's days if its address names none; null for the browser's. */
  timezone: string | null
  /** Names of the traits that runs are counted by. */
  traits: readonly string[]
  /** How its flows look unless they say otherwise; null if nothing is set. */
  theme: Theme | null
  /** How many times a person is interrupted in 24 hours at most; null for no such limit. */
  throttle: number | null
}

/** One immutable version of a flow: the steps and items that it had, in order. */
export interface FlowVersion {
  version: number
  publishedAt: number
  stepRefs: readonly StepRef[]
  itemRefs: readonly ItemRef[]
}

export interface FlowEntry {
  ref: FlowRef
  /** `flow_…`. */
  id: string
  key: string
  status: FlowStatus
  organisation: Organisation
  /** All versions that were ever published, ascending; empty if the flow never was. */
  versions: readonly FlowVersion[]
  /**
   * The newest version as pages get it; null if none was published. This and the fields below may have to
   * be read when they are used; `latestVersion` is always available.
   */
  latest: Flow | null
  /** The newest version as its author wrote it. */
  definition: FlowDefinition | null
  name: string
  /**
   * The names of the steps of all versions, in the order in which they were made. The newest version that
   * has a step determines them.
   */
  steps: ReadonlyMap<StepRef, { id: string; key: string; title: string }>
  /** The questions that steps ever had, newest version first. Read on demand. */
  questions: ReadonlyMap<StepRef, readonly Question[]>
  /** The steps and items of all versions, by id. */
  stepRefs: ReadonlyMap<string, StepRef>
  itemRefs: ReadonlyMap<string, ItemRef>
}

/** A step or an item. */
interface PartEntry<Ref> {
  ref: Ref
  id: string
  flow: FlowEntry
  /** Whether any published version had it; otherwise only a draft has it. */
  isPublished: boolean
}

export type StepEntry = PartEntry<StepRef>
export type ItemEntry = PartEntry<ItemRef>

/** A body that is made once per publication. Compressed forms can be kept beside it. */
export interface PreparedBody {
  /** May be read anew each time. */
  readonly text: string
  /** The hash of the text, from which an encoding's strong ETag is made. */
  readonly hash: string
}

/** A snippet key that was ever made. */
export interface SnippetKey {
  organisation: Organisation
  /** When it stops or stopped working; null for the current key. */
  endsAt: number | null
}

/** The list of flows that pages get. */
export interface PublishedFlows extends PreparedBody {
  version: string
  count: number
  /**
   * The flows for which a person's history matters, at most 200 with the highest priority: all except those
   * whose steps are always shown.
   */
  readonly remembered: readonly Pick<FlowEntry, 'ref' | 'id'>[]
  /** Whether any of them waits for a custom event, which a back end may have sent. */
  readonly asksForEvents: boolean
}

export interface Catalogue {
  /** A snippet key by its text, whether it still works or not. */
  snippetKey(text: string): SnippetKey | null
  /** When the last of an organisation's rotated keys stops or stopped working; null if there is none. */
  oldKeysEndAt(organisation: Organisation): number | null
  /** By id or slug. */
  organisationByName(idOrSlug: string): Organisation | null
  /** Any flow of any organisation. The caller has to check the owner. */
  flow(id: string): FlowEntry | null
  /** Any step of any organisation, also of drafts. The caller has to check the owner. */
  step(id: string): StepEntry | null
  /** Any item of any organisation, also of drafts. */
  item(id: string): ItemEntry | null
  /** The published flows, highest priority first, then key. */
  publishedFlows(organisation: Organisation): PublishedFlows
  /** One published flow as callers see it; null if it is no longer published. */
  publishedFlow(flow: FlowEntry): PreparedBody | null
  /** Items of published flows that a custom event of this name ticks. */
  itemsCompletedBy(organisation: Organisation, eventName: string): readonly ItemEntry[]
}

/** The number of the version that callers see or saw last; null if the flow was never published. */
export function latestVersion(flow: FlowEntry): number | null {
  return flow.versions.at(-1)?.version ?? null
}

/** The most days for which raw events can be accepted and kept; the least is one. */
export const maxRetentionDays = 3_650

/**
 * The earliest time of an event that an organisation may still send, epoch milliseconds. Everything
 * received before that is deleted. An event occurs before it is received, so no event is accepted that
 * would be deleted at once, and none is accepted twice after its id was freed.
 *
 * @param serverDays the server's own setting, for organisations without one
 */
export const oldestAccepted = (
  { retentionDays }: Pick<Organisation, 'retentionDays'>,
  serverDays: number,
  now: number,
): number => now - (retentionDays ?? serverDays) * dayMs

/** The most interruptions a day that an organisation can allow, which is as good as no limit. */
export const maxInterruptions = 100
