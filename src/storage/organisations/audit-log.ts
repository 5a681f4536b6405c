import type { Database } from 'bun:sqlite'
import { and, desc, eq, lt } from 'drizzle-orm'
import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { AuditLine, AuditQuestion } from '../../modules/access/port.ts'
import { type Tables, tables } from '../catalogue/change.ts'
import { auditLog, organisations } from '../database/schema.ts'

/** Writes what was changed, in the transaction of the change. */
export function writeAudit(tx: Tables, orgRow: number, entries: readonly AuditEntry[]): void {
  if (entries.length === 0) return
  const rows = entries.map(({ actor: { via, name, requestId }, ...entry }) => ({
    orgId: orgRow,
    via,
    actor: name,
    requestId,
    ...entry,
  }))
  // So many at a time that a statement has fewer variables than SQLite takes.
  for (let at = 0; at < rows.length; at += rowsOfStatement) {
    tx.insert(auditLog)
      .values(rows.slice(at, at + rowsOfStatement))
      .run()
  }
}

const rowsOfStatement = 100

/** Writes a line into the log of every organisation, of what was done to all of them at once. */
export function auditEverywhere(database: Database, entry: AuditEntry): void {
  const tx = tables(database)
  const write = database.transaction(() => {
    for (const { id } of tx.select({ id: organisations.id }).from(organisations).all()) {
      writeAudit(tx, id, [entry])
    }
  })
  write.immediate()
}

/** See `AccessStore.audit`. */
export function readAudit(
  tx: Tables,
  orgRow: number,
  { before, subject, most }: AuditQuestion,
): AuditLine[] {
  const rows = tx
    .select()
    .from(auditLog)
    .where(
      and(
        eq(auditLog.orgId, orgRow),
        subject === undefined ? undefined : eq(auditLog.subject, subject),
        before === undefined ? undefined : lt(auditLog.id, before),
      ),
    )
    .orderBy(desc(auditLog.id))
    .limit(most)
    .all()
  return rows.map(({ id, orgId, via, actor, requestId, before, after, ...entry }) => ({
    ...entry,
    line: id,
    before: before ?? null,
    after: after ?? null,
    actor: { via, name: actor, requestId },
  }))
}
