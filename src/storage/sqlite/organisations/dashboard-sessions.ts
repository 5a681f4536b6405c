import type { Database } from 'bun:sqlite'
import { and, asc, eq, inArray, lt, lte, sql } from 'drizzle-orm'
import type { AuditEntry } from '../../../core/organisation/audit.ts'
import { minuteMs } from '../../../core/time/durations.ts'
import type { DashboardStore, NewLink, NewSession, SignedOut } from '../../interfaces/dashboard.ts'
import type { KnownSession } from '../../interfaces/gate.ts'
import type { InRows } from '../../shared/in-rows.ts'
import { countOf, inTransaction, preparedOnce, type Tables, tables } from '../catalogue/change.ts'
import { dashboardLinks, dashboardSessions, organisations } from '../database/schema.ts'
import { writeAudit } from './audit-log.ts'

/** Per organisation. Beyond that, whoever was not seen for longest is signed out. */
const maxSessions = 1_000

/** See `DashboardStore.createLink`. */
export function createLink(
  database: Database,
  orgRow: number,
  link: NewLink,
  audit: AuditEntry,
): void {
  inTransaction(database, tx => {
    tx.insert(dashboardLinks)
      .values({ ...link, orgId: orgRow })
      .run()
    writeAudit(database, orgRow, [audit])
  })
}

/** See `DashboardStore.link`. */
export function findLink(
  database: Database,
  sha256: string,
): Awaited<ReturnType<InRows<DashboardStore>['link']>> {
  const { role, name, expiresAt } = dashboardLinks
  const link = tables(database)
    .select({ role, name, expiresAt, organisation: organisations.publicId })
    .from(dashboardLinks)
    .innerJoin(organisations, eq(organisations.id, dashboardLinks.orgId))
    .where(eq(dashboardLinks.sha256, sha256))
    .get()
  return link ?? null
}

/** See `DashboardStore.redeemLink`. */
export function redeemLink(
  database: Database,
  sha256: string,
  session: NewSession,
  audit: AuditEntry,
): boolean {
  return inTransaction(database, tx => {
    const [link] = tx
      .delete(dashboardLinks)
      .where(eq(dashboardLinks.sha256, sha256))
      .returning({ orgId: dashboardLinks.orgId })
      .all()
    if (!link) return false
    beginSession(database, link.orgId, session, audit)
    return true
  })
}

/** See `DashboardStore.beginSession`. */
export function beginSession(
  database: Database,
  orgRow: number,
  session: NewSession,
  audit: AuditEntry,
): void {
  inTransaction(database, tx => {
    const isOfOrganisation = eq(dashboardSessions.orgId, orgRow)
    if (countOf(tx, dashboardSessions, isOfOrganisation) >= maxSessions) {
      const { id, lastSeenAt } = dashboardSessions
      const oldest = tx
        .select({ id })
        .from(dashboardSessions)
        .where(isOfOrganisation)
        .orderBy(asc(lastSeenAt), asc(id))
        .limit(1)
      tx.delete(dashboardSessions).where(inArray(id, oldest)).run()
    }
    tx.insert(dashboardSessions)
      .values({ ...session, orgId: orgRow })
      .run()
    writeAudit(database, orgRow, [audit])
  })
}

/** See `DashboardStore.endSession`. */
export function endSession(
  database: Database,
  orgRow: number,
  sha256: string,
  isEverywhere: boolean,
): void {
  const { orgId, subject, issuer } = dashboardSessions
  inTransaction(database, tx => {
    const [ended] = tx
      .delete(dashboardSessions)
      .where(and(eq(orgId, orgRow), eq(dashboardSessions.sha256, sha256)))
      .returning()
      .all()
    if (!isEverywhere || !ended || ended.subject === null || ended.issuer === null) return
    tx.delete(dashboardSessions)
      .where(and(eq(orgId, orgRow), eq(issuer, ended.issuer), eq(subject, ended.subject)))
      .run()
  })
}

/** See `DashboardStore.endSessionsOf`. */
export function endSessionsOf(
  database: Database,
  { issuer, subject, sid, begunBy }: SignedOut,
): number {
  // A named session ends alone, otherwise all of the person (OpenID Connect Back-Channel Logout 1.0, section 2.6).
  const isTheirs =
    sid === null
      ? eq(dashboardSessions.subject, subject ?? '')
      : and(
          eq(dashboardSessions.sid, sid),
          subject === null ? undefined : eq(dashboardSessions.subject, subject),
        )
  return tables(database)
    .delete(dashboardSessions)
    .where(
      and(
        eq(dashboardSessions.issuer, issuer),
        isTheirs,
        lte(dashboardSessions.createdAt, begunBy),
      ),
    )
    .returning({ id: dashboardSessions.id })
    .all().length
}

/** Notes the minute in which somebody was seen; costs nothing where that is noted already. */
export function noteSeen(database: Database, sha256: string, at: number): void {
  const minute = at - (at % minuteMs)
  tables(database)
    .update(dashboardSessions)
    .set({ lastSeenAt: minute })
    .where(and(eq(dashboardSessions.sha256, sha256), lt(dashboardSessions.lastSeenAt, minute)))
    .run()
}

/** Prepared, because each request of the dashboard looks up its session. */
const bySecret = preparedOnce((tx: Tables) =>
  tx
    .select({ session: dashboardSessions, organisation: organisations.publicId })
    .from(dashboardSessions)
    .innerJoin(organisations, eq(organisations.id, dashboardSessions.orgId))
    .where(eq(dashboardSessions.sha256, sql.placeholder('sha256')))
    .prepare(),
)

/** See `KnownSessions.find`. */
export function findSession(database: Database, sha256: string): KnownSession | null {
  const row = bySecret(tables(database)).get({ sha256 })
  if (!row) return null
  const { id, orgId, ...session } = row.session
  return { ...session, organisation: row.organisation }
}

/** Signs everybody out, for a database that others may have had access to meanwhile. */
export function endAllSessions(database: Database): void {
  database.run('delete from dashboard_sessions')
  database.run('delete from dashboard_links')
}

/** Deletes the sessions and links of one organisation that have ended. */
export function deleteEnded(database: Database, idleMs: number) {
  const sessions = database.query<null, [number, number, number]>(
    'delete from dashboard_sessions where org_id = ? and (ends_at < ? or last_seen_at < ?)',
  )
  const links = database.query<null, [number, number]>(
    'delete from dashboard_links where org_id = ? and expires_at < ?',
  )
  return (orgRow: number, now: number) => {
    sessions.run(orgRow, now, now - idleMs)
    links.run(orgRow, now)
  }
}
