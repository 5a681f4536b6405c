import type { Mapping } from '../../../../core/flow/plain.ts'

/** Work that the server does not have yet, as this browser keeps it. */
export interface Unsaved {
  /** Null if the YAML cannot be read. */
  flow: Mapping | null
  /** The YAML, if it was being written. */
  text: string | null
  /** The ETag of what it changes; null for a new flow. */
  etag: string | null
  /** What was sent before without an answer. The server may have it. */
  unanswered: Mapping | null
}

/** @param flowKey empty for a new flow */
const nameOf = (organisation: string, flowKey: string) =>
  `cairn-unsaved:${organisation}:${encodeURIComponent(flowKey)}`

/** @returns whether it is kept: a browser may refuse, or have no room */
export function keep(organisation: string, flowKey: string, work: Unsaved): boolean {
  try {
    localStorage.setItem(nameOf(organisation, flowKey), JSON.stringify(work))
    return true
  } catch {
    return false
  }
}

/** What was kept of a flow; null if nothing was. */
export function kept(organisation: string, flowKey: string): Unsaved | null {
  try {
    return JSON.parse(localStorage.getItem(nameOf(organisation, flowKey)) ?? 'null')
  } catch {
    return null
  }
}

export function forget(organisation: string, flowKey: string): void {
  try {
    localStorage.removeItem(nameOf(organisation, flowKey))
  } catch {
    // If nothing may be stored, there is nothing to remove.
  }
}
