import type { Database } from 'bun:sqlite'
import type { ErasureAudit, NamedPerson } from '../../../modules/people/port.ts'
import type { InRows } from '../../shared/in-rows.ts'
import { erasureKey, type ListedErasure } from '../../sqlite/erasure/erasure-list.ts'
import { type ErasureRow, ErasureTable } from '../../sqlite/erasure/erasure-table.ts'
import type { ErasedCounts } from '../../sqlite/erasure/erasure-work.ts'
import { hashOfPerson } from '../../sqlite/erasure/person-matcher.ts'

/**
 * The changes of an erasure to what management keeps, made on the node's copy: see `CatalogueCopy.alter`. Unlike
 * in a server alone, there is no list beside the database: `erasures` is in PostgreSQL's own backups.
 */
export const erasureChanges = (database: Database, now: () => number) => ({
  /** From the commit on, no node takes anything more of the person. An unfinished erasure is resumed. */
  beginErasure(
    { orgRef: orgRow, orgId, person }: InRows<NamedPerson>,
    audit: ErasureAudit,
  ): ErasureRow {
    const table = new ErasureTable(database)
    const all = table.all()
    const key = erasureKey(all)
    const hashed = { orgRow, key, person: hashOfPerson(key, orgId, person) }
    const known = table.get(hashed)
    if (known && known.finishedAt === null) return known
    return table.begin(hashed, Math.max(now(), (known?.askedAt ?? 0) + 1), audit)
  },

  /** See `reapplyErasures`. From the commit on, no node takes anything more of these people. */
  reapplyErasures(listed: readonly ListedErasure[]): { people: number; unknown: number } {
    const table = new ErasureTable(database)
    const organisation = database.query<{ id: number }, [string]>(
      'select id from organisations where public_id = ?',
    )
    const counts = { people: 0, unknown: 0 }
    for (const { action, at, org, key, person } of listed) {
      const row = organisation.get(org)
      if (row === null) counts.unknown++
      if (row === null || action === 'allow') continue
      const hashed = { orgRow: row.id, key, person }
      const known = table.get(hashed)
      if (known !== null && known.askedAt >= Date.parse(at)) continue
      table.begin(hashed, Date.parse(at))
      counts.people++
    }
    return counts
  },

  /** Nothing is left to rename, so the secret that the names were made from is deleted too. */
  endErasure({ id, orgRow }: Pick<ErasureRow, 'id' | 'orgRow'>, erased: ErasedCounts): number {
    const at = now()
    database
      .query(
        `update erasures set secret = null, finished_at = ?, receipt = ?
        where id = ? and org_id = ?`,
      )
      .run(at, JSON.stringify(erased), id, orgRow)
    return at
  },

  /** See `PeopleStore.allow`. */
  allowPerson(person: InRows<NamedPerson>, audit: ErasureAudit): boolean {
    const table = new ErasureTable(database)
    const erased = table.of(person)
    for (const row of erased) table.forget(row, audit)
    return erased.length > 0
  },
})

export type ErasureChanges = ReturnType<typeof erasureChanges>
