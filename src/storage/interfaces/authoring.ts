import { type StaticDecode, Type } from '@sinclair/typebox'
import type {
  FlowDefinition,
  FlowSource,
  FlowStatus,
  PromotedSource,
} from '../../core/flow/flow.ts'
import type { StoredVersion } from '../../core/flow/forms.ts'
import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { Count, Instant, OneOf, OrNull } from '../../core/shapes.ts'
import type { Fingerprint } from '../../core/step/fingerprint.ts'

/** A published version without its definition. */
export const VersionRecord = Type.Object({
  version: Type.Integer({ examples: [3] }),
  publishedAt: Instant('When it was published.'),
  publishedBy: OrNull(
    Type.Object({
      name: Type.String({ examples: ['Ann'] }),
      via: OneOf(['command line', 'token', 'dashboard']),
    }),
    'Who published it. Null if the audit log does not say.',
  ),
  note: OrNull(Type.String(), 'Their note.'),
  stepCount: Count('Number of steps.', 4),
  itemCount: Count('Number of checklist items.', 0),
})
export type VersionRecord = StaticDecode<typeof VersionRecord>

/** A flow as its author sees it. */
export interface AuthoredFlow {
  /** `flow_…`. */
  id: string
  key: string
  status: FlowStatus
  /** What its author wrote after the newest version; null if nothing. */
  draft: FlowDefinition | null
  /** The newest version, whether pages still show it or not; null if the flow was never published. */
  newest: StoredVersion | null
  updatedAt: number
  /** Where it was last pushed or promoted from; null if unknown. */
  source: FlowSource | PromotedSource | null
  /** Whether it can only be changed there. */
  isLocked: boolean
}

export type FlowOrigin = Pick<AuthoredFlow, 'source' | 'isLocked'>

/** Flows of an organisation as of one moment. */
export interface FlowsRead {
  /** Grows with every change to the organisation. */
  revision: number
  flows: readonly AuthoredFlow[]
  /** How many flows of the organisation are not archived, whichever were read. */
  inUse: number
}

/** A change to one flow. If no flow has the key, one is made. */
export interface FlowChange {
  key: string
  status: FlowStatus
  draft: FlowDefinition | null
  /** If not null, becomes the next version. */
  publish: FlowDefinition | null
  /** Where it comes from, from now on; unchanged if absent. */
  origin?: FlowOrigin
}

/** Changes that are made all or none. */
export interface FlowChanges {
  /** The revision that they are based on. */
  revision: number
  changes: readonly FlowChange[]
  audit: readonly AuditEntry[]
  /** An entry for the audit log of the organisation that the changes come from. */
  witness?: { org: OrganisationRef; entry: AuditEntry }
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
   * @returns one for each change, in the same order; null if the organisation has changed since that
   *   revision: then nothing was done
   */
  change(orgRef: OrganisationRef, changes: FlowChanges): Promise<readonly StoredChange[] | null>
  /** All versions of a flow, newest first. */
  versions(orgRef: OrganisationRef, key: string): Promise<VersionRecord[]>
  version(orgRef: OrganisationRef, key: string, version: number): Promise<StoredVersion | null>
  publishedParts(orgRef: OrganisationRef, key: string): Promise<PublishedParts>
  /** Who changed a flow last, and when; null if the audit log does not say. */
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

/** One version of a step. */
export interface StepVersion {
  flowKey: string
  stepKey: string
  version: number
}

/** What pinning and repairing need from storage. */
export interface LookStore {
  /** The baseline of a step's element, and how many of the fingerprints since a moment look like it. */
  looks(
    orgRef: OrganisationRef,
    step: StepVersion,
    sinceMs: number,
  ): Promise<{ baseline: StepBaseline | null; alike: number; of: number }>
  /** What pages have reported about one version of a step since a moment. */
  suggested(
    orgRef: OrganisationRef,
    step: StepVersion,
    sinceMs: number,
  ): Promise<SuggestedSelectors>
}
