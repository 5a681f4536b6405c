import type { FlowDefinition, FlowSource, PromotedSource } from '../../core/flow/flow.ts'
import type { StoredVersion } from '../../core/flow/forms.ts'
import type { Actor, AuditEntry } from '../../core/organisation/audit.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import type { Fingerprint } from '../../core/step/fingerprint.ts'

/** A version without its definition. */
export interface VersionNote extends Omit<StoredVersion, 'definition'> {
  stepCount: number
  itemCount: number
  /** Who published it, and their note; null if that was not recorded. */
  published: { by: string; via: Actor['via']; note: string | null } | null
}

/** A flow as its author sees it. */
export interface AuthoredFlow {
  /** `flow_…`. */
  id: string
  key: string
  status: 'draft' | 'published' | 'archived'
  /** What its author wrote after the newest version; null if nothing. */
  draft: FlowDefinition | null
  /** The newest version, whether pages still show it or not; null if the flow was never published. */
  newest: StoredVersion | null
  updatedAt: number
  /** Where it was last pushed or promoted from; null if that was not given. */
  source: FlowSource | PromotedSource | null
  /** Whether it can only be changed there. */
  isLocked: boolean
}

/** What a push says about where a flow comes from. */
export type FlowOrigin = Pick<AuthoredFlow, 'source' | 'isLocked'>

/** Flows of an organisation as of one moment. */
export interface FlowsRead {
  /** Grows with every change to the organisation. */
  revision: number
  flows: readonly AuthoredFlow[]
  /** How many flows of the whole organisation are not archived, including those that were not asked for. */
  inUse: number
}

/** A change to one flow. If no flow has the key, one is made. */
export interface FlowChange {
  key: string
  status: AuthoredFlow['status']
  draft: FlowDefinition | null
  /** If not null, becomes the next version. */
  publish: FlowDefinition | null
  /** Where it comes from, from now on; unchanged if absent. */
  origin?: FlowOrigin
}

/** An entry about changes for the audit log of another organisation. */
export interface Witness {
  org: OrganisationRef
  entry: AuditEntry
}

/** Changes that are made all or none. */
export interface FlowChanges {
  /** The revision that they are based on. */
  revision: number
  changes: readonly FlowChange[]
  audit: readonly AuditEntry[]
  /** An entry for the audit log of the organisation that the changes come from. */
  witness?: Witness
}

/** What only storage knows about a flow that it has changed. */
export interface StoredChange {
  id: string
  key: string
  updatedAt: number
  /** When its newest version was published; null if it never was. */
  publishedAt: number | null
}

/** Keys of steps and items that any version of a flow had. If they are used again, they keep their ids. */
export interface PublishedParts {
  stepKeys: readonly string[]
  itemKeys: readonly string[]
}

/** What authoring needs from storage. */
export interface FlowStore {
  /** Flows in the order of their keys: those of `keys` that exist, or all. */
  read(orgRef: OrganisationRef, keys?: readonly string[]): Promise<FlowsRead>
  /**
   * Makes changes in one transaction. Steps and items are identified by their keys and keep their ids.
   * `publishedAt` is read within the transaction, and is later than that of the previous version.
   *
   * @returns what was made of each, in the same order; null if the organisation has changed since that
   *   revision: then nothing was done
   */
  change(orgRef: OrganisationRef, changes: FlowChanges): Promise<readonly StoredChange[] | null>
  /** All versions of a flow, newest first, without their definitions. */
  versions(orgRef: OrganisationRef, key: string): Promise<readonly VersionNote[]>
  version(orgRef: OrganisationRef, key: string, version: number): Promise<StoredVersion | null>
  publishedParts(orgRef: OrganisationRef, key: string): Promise<PublishedParts>
  /** Who changed a flow last, and when; null if nobody has since the audit log began to record it. */
  lastChange(orgRef: OrganisationRef, key: string): Promise<{ by: string; at: number } | null>
}

/** What the fingerprints of a step are compared with. */
export interface StepBaseline {
  /** The target that it was taken from, reduced to what identifies the element. */
  target: unknown
  at: number
  locale: string | null
  print: Fingerprint
}

/** The selectors with which pages would find a step's element again. */
export interface SuggestedSelectors {
  /** The one in most of those fingerprints that called for another selector. */
  byFingerprints: string | null
  /** The alternate with which most pages found the element when its own selector did not. */
  byReports: string | null
}

/** What pinning and repairing need from storage. */
export interface LookStore {
  /**
   * What pages have reported about a step's element: the baseline, and how many of the latest fingerprints
   * look like it.
   */
  looks(
    orgRef: OrganisationRef,
    step: { flowKey: string; stepKey: string; version: number },
    sinceMs: number,
  ): Promise<{ baseline: StepBaseline | null; alike: number; of: number }>
  /** What pages have reported about one version of a step since a moment. */
  suggested(
    orgRef: OrganisationRef,
    step: { flowKey: string; stepKey: string; version: number },
    sinceMs: number,
  ): Promise<SuggestedSelectors>
}
