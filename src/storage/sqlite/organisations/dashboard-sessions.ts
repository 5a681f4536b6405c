import type { Database } from 'bun:sqlite'
import { and, asc, eq, inArray, lt, lte, ne, sql } from 'drizzle-orm'
import type { AuditEntry } from '../../../core/organisation/audit.ts'
import { minuteMs } from '../../../core/time/durations.ts'
import type {
  DashboardStore,
  NewcomerOrMember,
  NewLink,
  NewSession,
  SignedOut,
} from '../../interfaces/dashboard.ts'
import type { KnownSession } from '../../interfaces/gate.ts'
import type { InRows } from '../../shared/in-rows.ts'
import { countOf, inTransaction, preparedOnce, type Tables, tables } from '../catalogue/change.ts'
import { dashboardLinks, dashboardSessions, members, organisations } from '../database/schema.ts'
import { writeAudit } from './audit-log.ts'
import { addLink, enter } from './members.ts'

/** Per organisation. Beyond that, whoever was not seen for longest is signed out. */
const maxSessions = 1_000

/** See `DashboardStore.createLink`. */
export function createLink(
  database: Database,
  orgRow: number,
  link: NewLink,
  audit: AuditEntry,
): void {
  inTransaction(database, () => addLink(database, orgRow, link, audit))
}

/** See `DashboardStore.link`. */
export function findLink(
  database: Database,
  sha256: string,
): Awaited<ReturnType<InRows<DashboardStore>['link']>> {
  const { method, expiresAt } = dashboardLinks
  const link = tables(database)
    .select({ method, expiresAt, organisation: organisations.publicId })
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
      .returning()
      .all()
    if (!link) return false
    const { issuer, subject, name, isNamed, method, role } = link
    begin(database, link.orgId, { issuer, subject, name, isNamed, method, role }, session, audit)
    return true
  })
}

/** See `DashboardStore.beginSession`. */
export function beginSession(
  database: Database,
  orgRow: number,
  who: NewcomerOrMember,
  session: NewSession,
  audit: AuditEntry,
): void {
  inTransaction(database, () => begin(database, orgRow, who, session, audit))
}

function begin(
  database: Database,
  orgRow: number,
  who: NewcomerOrMember,
  session: NewSession,
  audit: AuditEntry,
): void {
  const tx = tables(database)
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
  const { id: memberId, name, role } = enter(database, orgRow, who, audit)
  tx.insert(dashboardSessions)
    .values({ ...session, orgId: orgRow, memberId })
    .run()
  noteMember(tx, memberId, session.lastSeenAt)
  const after = { ...audit.after, role: session.isReadOnly ? 'viewer' : role }
  writeAudit(database, orgRow, [{ ...audit, actor: { ...audit.actor, name }, after }])
}

/** See `DashboardStore.endSession`. */
export function endSession(
  database: Database,
  orgRow: number,
  sha256: string,
  isEverywhere: boolean,
): void {
  const { orgId, memberId } = dashboardSessions
  inTransaction(database, tx => {
    const [ended] = tx
      .delete(dashboardSessions)
      .where(and(eq(orgId, orgRow), eq(dashboardSessions.sha256, sha256)))
      .returning()
      .all()
    if (!isEverywhere || !ended) return
    const isThem = and(eq(members.id, ended.memberId), ne(members.subject, ''))
    const them = tx.select({ id: members.id }).from(members).where(isThem)
    tx.delete(dashboardSessions).where(inArray(memberId, them)).run()
  })
}

/** See `DashboardStore.endSessionsOf`. */
export function endSessionsOf(
  database: Database,
  { issuer, subject, sid, begunBy }: SignedOut,
): number {
  const tx = tables(database)
  const isTheirs = and(
    eq(members.issuer, issuer),
    subject === null ? undefined : eq(members.subject, subject),
  )
  const them = tx.select({ id: members.id }).from(members).where(isTheirs)
  return tx
    .delete(dashboardSessions)
    .where(
      and(
        inArray(dashboardSessions.memberId, them),
        // A named session ends alone, otherwise all of the person (OpenID Connect Back-Channel Logout 1.0, section 2.6).
        sid === null ? undefined : eq(dashboardSessions.sid, sid),
        lte(dashboardSessions.createdAt, begunBy),
      ),
    )
    .returning({ id: dashboardSessions.id })
    .all().length
}

/** Notes the minute in which somebody was seen; costs nothing where that is noted already. */
export function noteSeen(database: Database, sha256: string, at: number): void {
  const minute = at - (at % minuteMs)
  inTransaction(database, tx => {
    const [seen] = tx
      .update(dashboardSessions)
      .set({ lastSeenAt: minute })
      .where(and(eq(dashboardSessions.sha256, sha256), lt(dashboardSessions.lastSeenAt, minute)))
      .returning({ memberId: dashboardSessions.memberId })
      .all()
    if (seen) noteMember(tx, seen.memberId, minute)
  })
}

function noteMember(tx: Tables, row: number, at: number): void {
  tx.update(members)
    .set({ lastSeenAt: at })
    .where(and(eq(members.id, row), lt(members.lastSeenAt, at)))
    .run()
}

/** Prepared, because each request of the dashboard looks up its session. */
const bySecret = preparedOnce((tx: Tables) => {
  const { sha256, isReadOnly, createdAt, lastSeenAt, idleMs, endsAt } = dashboardSessions
  const { publicId: memberId, role, name, isNamed, issuer } = members
  return tx
    .select({
      ...{ sha256, isReadOnly, createdAt, lastSeenAt, idleMs, endsAt },
      ...{ memberId, role, name, isNamed, issuer, organisation: organisations.publicId },
    })
    .from(dashboardSessions)
    .innerJoin(members, eq(members.id, dashboardSessions.memberId))
    .innerJoin(organisations, eq(organisations.id, dashboardSessions.orgId))
    .where(eq(dashboardSessions.sha256, sql.placeholder('sha256')))
    .prepare()
})

/** See `KnownSessions.find`. */
export function findSession(database: Database, sha256: string): KnownSession | null {
  const row = bySecret(tables(database)).get({ sha256 })
  if (!row) return null
  const { isReadOnly, role, ...session } = row
  return { ...session, role: isReadOnly ? 'viewer' : role }
}

/** Signs everybody out, for a database that others may have had access to meanwhile. */
export function endAllSessions(database: Database): void {
  database.run('delete from dashboard_sessions')
  database.run('delete from dashboard_links')
}

/** Deletes the sessions and links of one organisation that have ended. */
export function deleteEnded(database: Database) {
  const sessions = database.query<null, [number, number, number]>(
    'delete from dashboard_sessions where org_id = ? and (ends_at < ? or last_seen_at + idle_ms < ?)',
  )
  const links = database.query<null, [number, number]>(
    'delete from dashboard_links where org_id = ? and expires_at < ?',
  )
  return (orgRow: number, now: number) => {
    sessions.run(orgRow, now, now)
    links.run(orgRow, now)
  }
}
