import { isoTime } from '../../../core/time/clock.ts'
import type { ErasureProgress } from '../../../modules/people/port.ts'
import type { ListedErasure } from '../../sqlite/erasure/erasure-list.ts'
import type { Queries } from '../database/connection.ts'
import { finishErasures } from './erase-person.ts'
import type { LongWorkParts } from './long-work.ts'

/**
 * Who was erased, for a file outside of the database: a database that is restored to an earlier moment learns of
 * it again from that file. The lines are those of a server alone, which keeps such a file itself.
 */
export async function listErasures(queries: Queries): Promise<ListedErasure[]> {
  const rows = await queries.all<Omit<ListedErasure, 'action' | 'at'> & { at: number }>(
    `select asked_at as at, public_id as org, key, person
    from erasures join organisations on organisations.id = org_id order by asked_at, erasures.id`,
  )
  return rows.map(({ at, ...row }) => ({ action: 'erase', at: isoTime(at), ...row }))
}

/** What became of a list. */
export interface Reapplied {
  /** People whose erasure the database did not know about. */
  people: number
  /** Lines of organisations that do not exist. */
  unknown: number
  /** Why not all of them are erased yet; null if they are. */
  unfinished: string | null
}

/** Erases everyone on a list who was not erased, or not since. A second call finds nothing more to do. */
export async function reapplyErasures(
  parts: LongWorkParts,
  listed: readonly ListedErasure[],
  tell: (progress: ErasureProgress) => void,
): Promise<Reapplied> {
  const begun = await parts.changes.reapplyErasures(listed)
  const { unfinished } = await finishErasures(parts, tell)
  return { ...begun, unfinished }
}
