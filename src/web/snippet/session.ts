import type { Keep } from './parts.ts'
import { isWithin } from './since.ts'
import { uuid } from './uuid.ts'

/** A visit ends after this time without anything to report, milliseconds. */
const quietMs = 30 * 60_000

/** The id of the visit, the same in all tabs. */
export function createSession(keep: Keep): () => string {
  return () => {
    const now = Date.now()
    const known = keep.get<{ id: string; usedAt: number }>('session')
    const id = known && isWithin(known.usedAt, quietMs) ? known.id : uuid(now)
    keep.set('session', { id, usedAt: now })
    return id
  }
}
