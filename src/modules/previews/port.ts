import type { FlowDefinition } from '../../core/flow/flow.ts'
import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { OrganisationRef } from '../../core/reference.ts'

/** A link by which a draft is looked at in the real page, as it is told. */
export interface Preview {
  /** `preview_…`. */
  id: string
  /** The flow's key. */
  flow: string
  /** Whether it shows a flow that was handed in, and not the stored draft. */
  isFile: boolean
  url: string
  origin: string
  /** Who has made it. */
  madeBy: string
  madeAt: number
  expiresAt: number
  /** When a page last asked for the flow; null where none has. */
  openedAt: number | null
}

/** A link as it is made; its ticket is known by its hash alone. */
export interface NewPreview extends Omit<Preview, 'openedAt'> {
  /** `org_…`. */
  organisation: string
  ticketSha256: string
  /** What it shows; null for the draft of its flow, as it is at each load. */
  definition: FlowDefinition | null
}

/** What a page may know that has a link's ticket. */
export type PreviewVisit = Pick<NewPreview, 'organisation' | 'flow' | 'definition' | 'expiresAt'>

/** Links to previews: in memory alone, so they end when the server does. */
export interface PreviewStore {
  /**
   * False where the organisation has as many as it may.
   *
   * @throws AppError `overloaded` where there are too many of all organisations
   */
  begin(orgRef: OrganisationRef, preview: NewPreview): Promise<boolean>
  /** Those that work, the newest first. */
  list(orgRef: OrganisationRef, now: number): Promise<readonly Preview[]>
  /** The link that has ended by it; null where there was none. */
  end(orgRef: OrganisationRef, id: string, now: number): Promise<Preview | null>
  /** Null for a ticket that is none, has ended, or comes from another origin. */
  visit(ticketSha256: string, origin: string, now: number): Promise<PreviewVisit | null>
  /** Writes into the audit log of the organisation. */
  note(orgRef: OrganisationRef, entry: AuditEntry): Promise<void>
}

/** What is known of the snippet that pages have. */
export interface SeenSnippet {
  read(orgRef: OrganisationRef, now: number): Promise<{ snippetVersion: string | null }>
}
