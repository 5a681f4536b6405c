import type { Database } from 'bun:sqlite'
import { and, asc, eq, ne } from 'drizzle-orm'
import type { AuditEntry } from '../../../core/organisation/audit.ts'
import type { Segment } from '../../interfaces/segments.ts'
import { countOf, inTransaction, type Tables, tables } from '../catalogue/change.ts'
import { segments } from '../database/schema.ts'
import { writeAudit } from './audit-log.ts'

/** See `SegmentStore.list`. */
export function listSegments(database: Database, orgRow: number): Segment[] {
  const rows = tables(database)
    .select()
    .from(segments)
    .where(eq(segments.orgId, orgRow))
    .orderBy(asc(segments.name))
    .all()
  return rows.map(({ id: _, orgId, publicId, ...segment }) => ({ ...segment, id: publicId }))
}

const isTaken = (tx: Tables, orgRow: number, { name, id }: Segment) =>
  countOf(
    tx,
    segments,
    and(eq(segments.orgId, orgRow), eq(segments.name, name), ne(segments.publicId, id))!,
  ) > 0

/** See `SegmentStore.create`. */
export function createSegment(
  database: Database,
  orgRow: number,
  segment: Segment,
  max: number,
  audit: AuditEntry,
): 'created' | 'name taken' | 'too many' {
  return inTransaction(database, tx => {
    if (countOf(tx, segments, eq(segments.orgId, orgRow)) >= max) return 'too many'
    if (isTaken(tx, orgRow, segment)) return 'name taken'
    const { id, ...columns } = segment
    tx.insert(segments)
      .values({ ...columns, publicId: id, orgId: orgRow })
      .run()
    writeAudit(database, orgRow, [audit])
    return 'created'
  })
}

const revisionOf = (orgRow: number, id: string, revision: number) =>
  and(eq(segments.orgId, orgRow), eq(segments.publicId, id), eq(segments.revision, revision))

/** See `SegmentStore.change`. */
export function changeSegment(
  database: Database,
  orgRow: number,
  segment: Segment,
  revision: number,
  audit: AuditEntry,
): 'done' | 'name taken' | 'changed' {
  return inTransaction(database, tx => {
    const { id, ...columns } = segment
    if (countOf(tx, segments, revisionOf(orgRow, id, revision)!) === 0) return 'changed'
    if (isTaken(tx, orgRow, segment)) return 'name taken'
    tx.update(segments)
      .set(columns)
      .where(revisionOf(orgRow, id, revision))
      .run()
    writeAudit(database, orgRow, [audit])
    return 'done'
  })
}

/** See `SegmentStore.remove`. */
export function removeSegment(
  database: Database,
  orgRow: number,
  { id, revision }: Pick<Segment, 'id' | 'revision'>,
  audit: AuditEntry,
): boolean {
  return inTransaction(database, tx => {
    const removed = tx
      .delete(segments)
      .where(revisionOf(orgRow, id, revision))
      .returning({ id: segments.id })
      .all()
    if (removed.length === 0) return false
    writeAudit(database, orgRow, [audit])
    return true
  })
}
