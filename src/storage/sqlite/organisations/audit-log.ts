import type { Database } from 'bun:sqlite'
import { and, desc, eq, lt } from 'drizzle-orm'
import type { AuditEntry } from '../../../core/organisation/audit.ts'
import type { AuditLine, AuditQuestion } from '../../interfaces/access.ts'
import { inTransaction, preparedOnce, tables } from '../catalogue/change.ts'
import { auditLog, organisations } from '../database/schema.ts'

/** Does not use Drizzle, because each flow that is published has a line, and pages wait for all of them. */
const insertOver = preparedOnce((database: Database) =>
  database.query(
    `insert into audit_log (org_id, at, via, actor, action, subject, before, after, note, request_id)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
)

/** Writes what was changed, in the transaction of the change. */
export function writeAudit(
  database: Database,
  orgRow: number,
  entries: readonly AuditEntry[],
): void {
  const insert = insertOver(database)
  const json = (value: unknown) => (value == null ? null : JSON.stringify(value))
  for (const { at, actor, action, subject, before, after, note } of entries) {
    const { via, name, requestId } = actor
    const details = [json(before), json(after), note, requestId]
    insert.run(orgRow, at, via, name, action, subject, ...details)
  }
}

/** Writes a line into the log of every organisation, about something done to all of them at once. */
export function auditEverywhere(database: Database, entry: AuditEntry): void {
  inTransaction(database, tx => {
    for (const { id } of tx.select({ id: organisations.id }).from(organisations).all()) {
      writeAudit(database, id, [entry])
    }
  })
}

/** See `AccessStore.audit`. */
export function readAudit(
  database: Database,
  orgRow: number,
  { before, subject, most }: AuditQuestion,
): AuditLine[] {
  const rows = tables(database)
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
