import type { BrowserStore } from './parts.ts'
import { isWithin } from './recency.ts'
import { uuid } from './uuid.ts'

/** A visit ends after this time without anything to report, milliseconds. */
const quietMs = 30 * 60_000

/** The id of the visit, the same in all tabs. */
export function createSession(store: BrowserStore): () => string {
  return () => {
    const now = Date.now()
    const known = store.get<{ id: string; usedAt: number }>('session')
    const id = known && isWithin(known.usedAt, quietMs) ? known.id : uuid(now)
    store.set('session', { id, usedAt: now })
    return id
  }
}
