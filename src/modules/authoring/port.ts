import type { FlowDefinition, FlowSource, PromotedSource } from '../../core/flow/flow.ts'
import type { Actor, AuditEntry } from '../../core/organisation/audit.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import type { Fingerprint } from '../../core/step/fingerprint.ts'

/** A version of a flow as it was published; it never changes. */
export interface PublishedVersion {
  version: number
  publishedAt: number
  definition: FlowDefinition
}

/** A version as a ledger has it: without what it holds. */
export interface VersionNote extends Omit<PublishedVersion, 'definition'> {
  stepCount: number
  itemCount: number
  /** Who published it, and what they said of it; null where that was not noted. */
  published: { by: string; via: Actor['via']; note: string | null } | null
}

/** A flow as its author sees it. */
export interface AuthoredFlow {
  /** `flow_…`. */
  id: string
  key: string
  status: 'draft' | 'published' | 'archived'
  /** What is newer than the newest version; null where nothing is. */
  draft: FlowDefinition | null
  /** The newest version, whether pages still show it or not; null for a flow never published. */
  newest: PublishedVersion | null
  updatedAt: number
  /** Where it was pushed, or promoted, from last; null where that was not said. */
  source: FlowSource | PromotedSource | null
  /** Whether it is changed there alone. */
  isLocked: boolean
}

/** What a push says of where a flow comes from. */
export type FlowOrigin = Pick<AuthoredFlow, 'source' | 'isLocked'>

/** Flows of an organisation as of one moment. */
export interface FlowsRead {
  /** Grows with every change of the organisation. */
  revision: number
  flows: readonly AuthoredFlow[]
  /** How many flows of the organisation are not archived, those that were not asked for too. */
  inUse: number
}

/** What becomes of one flow; a key that no flow has makes one. */
export interface FlowChange {
  key: string
  status: AuthoredFlow['status']
  draft: FlowDefinition | null
  /** Becomes the next version. */
  publish: FlowDefinition | null
  /** Where it comes from from now on; as before where it is left out. */
  origin?: FlowOrigin
}

/** What another organisation is told of changes, in its audit log. */
export interface Witness {
  org: OrganisationRef
  entry: AuditEntry
}

/** Changes that are made all together or not at all. */
export interface FlowChanges {
  /** As of which revision they were decided. */
  revision: number
  changes: readonly FlowChange[]
  audit: readonly AuditEntry[]
  /** A line for the audit log of another organisation, from which they come. */
  witness?: Witness
}

/** What storage alone knows of a flow that it has changed. */
export interface StoredChange {
  id: string
  key: string
  updatedAt: number
  /** Of its newest version; null for a flow never published. */
  publishedAt: number | null
}

/** Keys of the steps and items that any version of a flow had: given again, they keep their ids. */
export interface PublishedParts {
  stepKeys: readonly string[]
  itemKeys: readonly string[]
}

/** What authoring asks of storage. */
export interface FlowStore {
  /** Flows by key, in the order of their keys; those of `keys` that there are, or all. */
  read(orgRef: OrganisationRef, keys?: readonly string[]): Promise<FlowsRead>
  /**
   * Makes changes in one transaction. Steps and items are known by their keys and keep their ids;
   * `publishedAt` is read within the transaction, and is later than that of the version before.
   *
   * @returns what was made of each, in their order; null where the organisation has changed since they were decided:
   *   then nothing was done
   */
  change(orgRef: OrganisationRef, changes: FlowChanges): Promise<readonly StoredChange[] | null>
  /** All versions of a flow, newest first, without what they hold. */
  versions(orgRef: OrganisationRef, key: string): Promise<readonly VersionNote[]>
  version(orgRef: OrganisationRef, key: string, version: number): Promise<PublishedVersion | null>
  publishedParts(orgRef: OrganisationRef, key: string): Promise<PublishedParts>
  /** Who changed a flow last, and when; null where nobody has since changes are noted. */
  lastChange(orgRef: OrganisationRef, key: string): Promise<{ by: string; at: number } | null>
}

/** What fingerprints of a step are compared with. */
export interface StepBaseline {
  /** The target that it was taken of, as far as it says which element is meant. */
  target: unknown
  at: number
  locale: string | null
  print: Fingerprint
}

/** The selectors by which pages would find a step's element again. */
export interface SuggestedSelectors {
  /** That of most fingerprints of the element that called for another one. */
  byFingerprints: string | null
  /** The alternate by which most pages found it where its own selector did not. */
  byReports: string | null
}

/** What pinning and repairing ask of storage. */
export interface LookStore {
  /** What pages have told of a step's element: the baseline, and how many of the latest looks are like it. */
  looks(
    orgRef: OrganisationRef,
    step: { flowKey: string; stepKey: string; version: number },
    sinceMs: number,
  ): Promise<{ baseline: StepBaseline | null; alike: number; of: number }>
  /** What pages have told of one version of a step since a moment. */
  suggested(
    orgRef: OrganisationRef,
    step: { flowKey: string; stepKey: string; version: number },
    sinceMs: number,
  ): Promise<SuggestedSelectors>
}
