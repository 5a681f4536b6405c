import { isoTime } from '../../../core/time/clock.ts'
import type { ErasureProgress } from '../../../modules/people/port.ts'
import type { ListedErasure } from '../../sqlite/erasure/erasure-list.ts'
import type { Queries } from '../database/connection.ts'
import { finishErasures } from './erase-person.ts'
import type { LongWorkParts } from './long-work.ts'

/**
 * Who was erased, for a file outside of the database: one that is brought back to an earlier moment learns
 * of it again by that. The lines are those of a server alone, which keeps such a file itself.
 */
export async function listErasures(queries: Queries): Promise<ListedErasure[]> {
  const rows = await queries.all<Omit<ListedErasure, 'action' | 'at'> & { at: number }>(
    `select asked_at as at, public_id as org, key, person
    from erasures join organisations on organisations.id = org_id order by asked_at, erasures.id`,
  )
  return rows.map(({ at, ...row }) => ({ action: 'erase', at: isoTime(at), ...row }))
}

/** What came of a list. */
export interface Reapplied {
  /** People of whom the database did not know that they were erased. */
  people: number
  /** Lines of organisations that there are none of. */
  unknown: number
  /** Why not all of them are erased yet; null where they are. */
  unfinished: string | null
}

/** Erases whoever is on a list and was not, or not since. Said twice, it finds nothing more to do. */
export async function reapplyErasures(
  parts: LongWorkParts,
  listed: readonly ListedErasure[],
  tell: (progress: ErasureProgress) => void,
): Promise<Reapplied> {
  const begun = await parts.changes.reapplyErasures(listed)
  const { unfinished } = await finishErasures(parts, tell)
  return { ...begun, unfinished }
}
