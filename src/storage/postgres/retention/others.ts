import { deleteForgotten } from '../author/short-lived.ts'
import { deleteOldCounts } from '../presence/refusals.ts'
import { deleteOldFingerprints, deleteOldReports } from '../steps/step-table.ts'
import type { DeleteOld } from './retention.ts'
import { rowsAtOnce } from './slices.ts'

/** Data besides events that expires: reports of steps, fingerprints, and counts by the hour. */
export const otherOldRows: readonly DeleteOld[] = [
  async (queries, organisations) => {
    for (const { orgRow, since } of organisations) {
      for (const deleteOld of [deleteOldReports, deleteOldFingerprints]) {
        while ((await deleteOld(queries, orgRow, since, rowsAtOnce)) === rowsAtOnce);
      }
    }
  },
  async (queries, _, now) => {
    await deleteForgotten(queries, now)
  },
  (queries, organisations, now) =>
    deleteOldCounts(
      queries,
      organisations.map(({ orgRow }) => orgRow),
      now,
    ),
]
