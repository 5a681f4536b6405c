import type { Flow, FlowStatus } from '../flow/flow.ts'
import type { Question } from '../flow/question.ts'
import type { Theme } from '../flow/theme.ts'
import type { FlowRef, ItemRef, OrganisationRef, StepRef } from '../reference.ts'
import { dayMs } from '../time/durations.ts'
import type { Bucket } from './buckets.ts'
import type { VerifiedIdentity } from './verified-identity.ts'

/** What is there at once, or has to be waited for. */
export type MaybePromise<T> = T | Promise<T>

/** Goes on with a value, in this very turn where there is nothing to wait for: a turn costs a request much. */
export const afterwards = <T, Next>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<Next>,
): MaybePromise<Next> => (value instanceof Promise ? value.then(next) : next(value))

/**
 * What every request needs to know of organisations and their flows. It is held in memory by each
 * thread that answers requests; an organisation costs statements only when it is first asked for, has
 * changed, or has not been asked for in long.
 */

export interface Organisation {
  ref: OrganisationRef
  /** `org_…`. */
  id: string
  slug: string
  name: string
  /** Of every bucket, requests per window. */
  limits: Record<Bucket, number>
  /** Origins that the snippet may run on; null where all may. */
  origins: ReadonlySet<string> | null
  /** For how many days events are accepted and kept; null where the server's setting holds. */
  retentionDays: number | null
  /** How user ids are verified; null where they are not. */
  identity: VerifiedIdentity | null
  /** Whether the snippet heeds browsers that ask not to be tracked. */
  honoursDoNotTrack: boolean
  /** The zone of the dashboard's days where its address names none; null for the browser's. */
  timezone: string | null
  /** Names of the traits that runs are counted by. */
  traits: readonly string[]
  /** How its flows look unless they say otherwise; null where nothing is set. */
  theme: Theme | null
  /** How many times in 24 hours a person is interrupted at most; null for as often as flows are due. */
  throttle: number | null
}

/** One frozen version of a flow: which steps and items it had, in order. */
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
  /** All that were ever published, ascending; empty for a flow that never was. */
  versions: readonly FlowVersion[]
  /**
   * The newest version as callers see it; null where none was published. It and what stands below
   * may have to be read when asked for: `latestVersion` is always at hand.
   */
  latest: Flow | null
  name: string
  /** What the steps of all versions are called, in the order in which they were made: the newest version that has one says it. */
  steps: ReadonlyMap<StepRef, { id: string; key: string; title: string }>
  /** What steps ever asked, that of the newest version first; read when it is asked for. */
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
  /** Whether any published version had it; else only a draft has. */
  isPublished: boolean
}

export type StepEntry = PartEntry<StepRef>
export type ItemEntry = PartEntry<ItemRef>

/** A body of which there is one per publication; whoever compresses it keeps that beside it. */
export interface PreparedBody {
  /** May be read anew whenever it is asked for. */
  readonly text: string
  /** Of the text; an encoding's strong ETag is made from it. */
  readonly hash: string
}

/** A snippet key that was ever made. */
export interface SnippetKey {
  organisation: Organisation
  /** When it stops working, or has; null for the current key. */
  endsAt: number | null
}

/** The flow list that pages get. */
export interface PublishedFlows extends PreparedBody {
  version: string
  count: number
  /**
   * Those for which it matters what a person has done with them before, at most 200 of the highest
   * priority: all but those whose steps are shown always.
   */
  readonly remembered: readonly Pick<FlowEntry, 'ref' | 'id'>[]
  /** Whether any of them waits for a custom event, which a back end may have sent. */
  readonly asksForEvents: boolean
}

/**
 * Look-ups. What is at hand is answered at once, for a promise would cost a request as much as the rest.
 * A store that cannot read in the same turn hands out entries that are whole.
 */
export interface Catalogue {
  /** A snippet key by its text, whether it still works or not. */
  snippetKey(text: string): MaybePromise<SnippetKey | null>
  /** When the last of an organisation's rotated keys stops working, or has stopped; null without one. */
  oldKeysEndAt(organisation: Organisation): MaybePromise<number | null>
  /** By id or slug. */
  organisationByName(idOrSlug: string): MaybePromise<Organisation | null>
  /** Any flow of any organisation: the caller compares the owner. */
  flow(id: string): MaybePromise<FlowEntry | null>
  /** Any step of any organisation, of drafts too: the caller compares the owner. */
  step(id: string): MaybePromise<StepEntry | null>
  /** Any item of any organisation, of drafts too. */
  item(id: string): MaybePromise<ItemEntry | null>
  /** The published flows, highest priority first, then key. */
  publishedFlows(organisation: Organisation): MaybePromise<PublishedFlows>
  /** One published flow as callers see it; null where it is published no more. */
  publishedFlow(flow: FlowEntry): MaybePromise<PreparedBody | null>
  /** Items of published flows that a custom event of this name ticks. */
  itemsCompletedBy(
    organisation: Organisation,
    eventName: string,
  ): MaybePromise<readonly ItemEntry[]>
}

/** The number of a flow's version that callers see, or saw last; null for one never published. */
export function latestVersion(flow: FlowEntry): number | null {
  return flow.versions.at(-1)?.version ?? null
}

/** For how many days raw events are accepted and kept: at least one, at most these. */
export const longestRetentionDays = 3_650

/**
 * The earliest time of an event that an organisation may still send, epoch milliseconds. What was
 * received before it is deleted: an event occurs before it is received, so none is accepted that would
 * be deleted at once, and none twice whose id was given back.
 *
 * @param serverDays the server's own setting, for organisations without one
 */
export const oldestAccepted = (
  { retentionDays }: Pick<Organisation, 'retentionDays'>,
  serverDays: number,
  now: number,
): number => now - (retentionDays ?? serverDays) * dayMs

/** The most interruptions a day that an organisation can allow, which is as good as no rule. */
export const mostInterruptions = 100
