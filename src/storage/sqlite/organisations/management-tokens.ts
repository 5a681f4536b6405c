import type { Database } from 'bun:sqlite'
import { and, desc, eq, isNull, lt, or, sql } from 'drizzle-orm'
import type { AuditEntry } from '../../../core/organisation/audit.ts'
import { minuteMs } from '../../../core/time/durations.ts'
import type { ManagementToken, NewManagementToken } from '../../interfaces/access.ts'
import type { KnownToken } from '../../interfaces/gate.ts'
import { inTransaction, preparedOnce, type Tables, tables } from '../catalogue/change.ts'
import { managementTokens, organisations } from '../database/schema.ts'
import { writeAudit } from './audit-log.ts'

/** See `AccessStore.tokens`. */
export function listTokens(database: Database, orgRow: number): ManagementToken[] {
  const rows = tables(database)
    .select()
    .from(managementTokens)
    .where(eq(managementTokens.orgId, orgRow))
    .orderBy(desc(managementTokens.id))
    .all()
  return rows.map(({ publicId, id, orgId, sha256, createdById, ...token }) => ({
    ...token,
    id: publicId,
  }))
}

/** See `AccessStore.createToken`. */
export function createToken(
  database: Database,
  orgRow: number,
  { id, ...token }: NewManagementToken,
  audit: AuditEntry,
): void {
  inTransaction(database, tx => {
    tx.insert(managementTokens)
      .values({ ...token, scopes: [...token.scopes], publicId: id, orgId: orgRow })
      .run()
    writeAudit(database, orgRow, [audit])
  })
}

/** See `AccessStore.revokeToken`. */
export function revokeToken(
  database: Database,
  orgRow: number,
  id: string,
  audit: AuditEntry,
): boolean {
  return inTransaction(database, tx => {
    const isIt = and(
      eq(managementTokens.orgId, orgRow),
      eq(managementTokens.publicId, id),
      isNull(managementTokens.revokedAt),
    )
    const revoked = tx
      .update(managementTokens)
      .set({ revokedAt: audit.at })
      .where(isIt)
      .returning({ id: managementTokens.id })
      .all()
    if (revoked.length === 0) return false
    writeAudit(database, orgRow, [audit])
    return true
  })
}

/** Notes the minute in which a token was used; costs nothing where that is noted already. */
export function noteTokenUse(database: Database, id: string, at: number): void {
  const minute = at - (at % minuteMs)
  const { publicId, lastUsedAt } = managementTokens
  const isEarlier = or(isNull(lastUsedAt), lt(lastUsedAt, minute))
  tables(database)
    .update(managementTokens)
    .set({ lastUsedAt: minute })
    .where(and(eq(publicId, id), isEarlier))
    .run()
}

/** Prepared, because each request of a program looks up its token. */
const bySecret = preparedOnce((tx: Tables) => {
  const { publicId: id, name, scopes, expiresAt, revokedAt } = managementTokens
  return tx
    .select({ id, name, organisation: organisations.publicId, scopes, expiresAt, revokedAt })
    .from(managementTokens)
    .innerJoin(organisations, eq(organisations.id, managementTokens.orgId))
    .where(eq(managementTokens.sha256, sql.placeholder('sha256')))
    .prepare()
})

/** See `KnownTokens.find`. */
export const findToken = (database: Database, sha256: string): KnownToken | null =>
  bySecret(tables(database)).get({ sha256 }) ?? null
