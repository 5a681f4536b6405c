import { AppError } from '../../core/errors.ts'
import {
  maxPreviewedText,
  maxPreviews,
  maxPreviewsInAll,
} from '../../core/organisation/preview-link.ts'
import type { NewPreview, Preview, PreviewVisit } from '../interfaces/previews.ts'

/** A link as it is kept; JSON can carry it. */
export interface KeptPreview extends NewPreview {
  orgRow: number
  openedAt: number | null
  /** How many characters the flow has, if it is stored nowhere else. */
  size: number
}

const told = ({
  orgRow: _,
  size,
  organisation,
  ticketSha256,
  definition,
  ...preview
}: KeptPreview) => preview satisfies Preview

/**
 * Links to previews of all organisations. A server alone has them in memory, and writes nothing of them anywhere but
 * in the audit log.
 */
export class PreviewLinks {
  private readonly links: Map<string, KeptPreview>

  constructor(held: readonly KeptPreview[] = []) {
    const inOrder = held.toSorted((a, b) => a.madeAt - b.madeAt)
    this.links = new Map(inOrder.map(link => [link.id, link]))
  }

  get held(): Iterable<KeptPreview> {
    return this.links.values()
  }

  begin(orgRow: number, preview: NewPreview): boolean {
    this.expire(preview.madeAt)
    const all = [...this.links.values()]
    if (all.filter(link => link.orgRow === orgRow).length >= maxPreviews) return false
    const size = preview.definition ? JSON.stringify(preview.definition).length : 0
    const sizes = all.reduce((sum, link) => sum + link.size, size)
    if (all.length >= maxPreviewsInAll || sizes > maxPreviewedText) {
      throw new AppError('overloaded', 'Too many drafts are being previewed at once: try later')
    }
    this.links.set(preview.id, { ...preview, orgRow, openedAt: null, size })
    return true
  }

  list(orgRow: number, now: number): Preview[] {
    this.expire(now)
    const own = [...this.links.values()].filter(link => link.orgRow === orgRow)
    return own.reverse().map(told)
  }

  end(orgRow: number, id: string, now: number): Preview | null {
    this.expire(now)
    const link = this.links.get(id)
    if (link?.orgRow !== orgRow) return null
    this.links.delete(id)
    return told(link)
  }

  visit(ticketSha256: string, origin: string, now: number): PreviewVisit | null {
    for (const link of this.links.values()) {
      if (link.ticketSha256 !== ticketSha256) continue
      if (link.origin !== origin || now >= link.expiresAt) return null
      link.openedAt = now
      const { organisation, flow, definition, expiresAt } = link
      return { organisation, flow, definition, expiresAt }
    }
    return null
  }

  /** Forgets links that have ended. To be called every so often. */
  expire(now: number): void {
    for (const { id, expiresAt } of this.links.values()) {
      if (now >= expiresAt) this.links.delete(id)
    }
  }
}
