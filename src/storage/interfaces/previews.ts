import type { FlowDefinition } from '../../core/flow/flow.ts'
import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { OrganisationRef } from '../../core/reference.ts'

/** A link that shows a draft in the real page, as the API returns it. */
export interface Preview {
  /** `preview_…`. */
  id: string
  /** The flow's key. */
  flow: string
  /** Whether it shows a flow that was handed in, and not the stored draft. */
  isFile: boolean
  url: string
  origin: string
  /** Who made it. */
  madeBy: string
  madeAt: number
  expiresAt: number
  /** When a page last asked for the flow; null if none has. */
  openedAt: number | null
}

/** A new link. Only the hash of its ticket is known. */
export interface NewPreview extends Omit<Preview, 'openedAt'> {
  /** `org_…`. */
  organisation: string
  ticketSha256: string
  /** The flow that it shows; null for the stored draft, read anew at each load. */
  definition: FlowDefinition | null
}

/** What a page may know if it has a link's ticket. */
export type PreviewVisit = Pick<NewPreview, 'organisation' | 'flow' | 'definition' | 'expiresAt'>

/** Links to previews. They are only in memory, so they end when the server does. */
export interface PreviewStore {
  /**
   * False if the organisation has as many as it may.
   *
   * @throws AppError `overloaded` if all organisations together have too many
   */
  begin(orgRef: OrganisationRef, preview: NewPreview): Promise<boolean>
  /** Those that still work, newest first. */
  list(orgRef: OrganisationRef, now: number): Promise<readonly Preview[]>
  /** Returns the link that this has ended; null if there was none. */
  end(orgRef: OrganisationRef, id: string, now: number): Promise<Preview | null>
  /** Null if the ticket is unknown, has ended, or comes from another origin. */
  visit(ticketSha256: string, origin: string, now: number): Promise<PreviewVisit | null>
  /** Writes an entry into the audit log of the organisation. */
  note(orgRef: OrganisationRef, entry: AuditEntry): Promise<void>
}

/** What is known about the snippet that pages have. */
export interface SeenSnippet {
  read(orgRef: OrganisationRef, now: number): Promise<{ snippetVersion: string | null }>
}
