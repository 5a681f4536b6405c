import type { Database } from 'bun:sqlite'
import { and, asc, desc, eq, gt, isNull, ne, or, sql } from 'drizzle-orm'
import { type Role, scopesOfRole } from '../../../core/organisation/access.ts'
import type { AuditEntry } from '../../../core/organisation/audit.ts'
import { newId } from '../../../core/organisation/ids.ts'
import type { NewcomerOrMember, NewLink } from '../../interfaces/dashboard.ts'
import type { Invitation, Member, MemberProblem, MemberStore } from '../../interfaces/members.ts'
import type { InRows } from '../../shared/in-rows.ts'
import { countOf, inTransaction, type Tables, tables } from '../catalogue/change.ts'
import { dashboardLinks, dashboardSessions, managementTokens, members } from '../database/schema.ts'
import { writeAudit } from './audit-log.ts'

/** Per organisation. Beyond that, somebody new takes the place of whoever was not seen for longest. */
const maxMembers = 1_000
/** Invitations stop earlier, so that nobody who was invited loses their place. */
const maxInvited = 500

type MemberRow = typeof members.$inferSelect

const isActive = (now: number) =>
  and(isNull(managementTokens.revokedAt), gt(managementTokens.expiresAt, now))

/** See `MemberStore.members`. */
export function listMembers(database: Database, orgRow: number, now: number): Member[] {
  const { publicId, name, role, isRoleProvided, method, createdAt, lastSeenAt } = members
  const columns = { id: publicId, name, role, isRoleProvided, method, createdAt, lastSeenAt }
  return tables(database)
    .select({ ...columns, tokens: sql<number>`count(${managementTokens.id})` })
    .from(members)
    .leftJoin(
      managementTokens,
      and(
        eq(managementTokens.orgId, orgRow),
        eq(managementTokens.createdById, publicId),
        isActive(now),
      ),
    )
    .where(eq(members.orgId, orgRow))
    .groupBy(members.id)
    .orderBy(sql`${name} collate nocase`, asc(members.id))
    .all()
}

const isInvitation = (orgRow: number) =>
  and(eq(dashboardLinks.orgId, orgRow), eq(dashboardLinks.issuer, 'invitation'))

/** See `MemberStore.invitations`. */
export function listInvitations(database: Database, orgRow: number, now: number): Invitation[] {
  const { publicId, name, isNamed, role, createdBy, createdAt, expiresAt } = dashboardLinks
  const rows = tables(database)
    .select({ id: publicId, name, isNamed, role, createdBy, createdAt, expiresAt })
    .from(dashboardLinks)
    .where(and(isInvitation(orgRow), isNewcomers, gt(expiresAt, now)))
    .orderBy(desc(dashboardLinks.id))
    .all()
  return rows.map(({ isNamed, ...row }) => ({
    ...row,
    name: isNamed ? row.name : null,
    role: row.role as Invitation['role'],
  }))
}

/** A link for somebody who is a member has no role of its own. */
const isNewcomers = sql`${dashboardLinks.role} is not null`

/** See `MemberStore.invite`. */
export function invite(
  database: Database,
  orgRow: number,
  link: NewLink,
  audit: AuditEntry,
): boolean {
  return inTransaction(database, tx => {
    const isPending = and(isInvitation(orgRow), isNewcomers, gt(dashboardLinks.expiresAt, audit.at))
    const known = countOf(tx, members, eq(members.orgId, orgRow))
    if (known + countOf(tx, dashboardLinks, isPending) >= maxInvited) return false
    addLink(database, orgRow, link, audit)
    return true
  })
}

/** Adds a link with its line in the audit log, in the caller's transaction. */
export function addLink(
  database: Database,
  orgRow: number,
  link: NewLink,
  audit: AuditEntry,
): void {
  const { id, ...values } = link
  tables(database)
    .insert(dashboardLinks)
    .values({ ...values, publicId: id, orgId: orgRow })
    .run()
  writeAudit(database, orgRow, [audit])
}

/** See `MemberStore.revokeInvitation`. */
export function revokeInvitation(
  database: Database,
  orgRow: number,
  id: string,
  audit: AuditEntry,
): boolean {
  return inTransaction(database, tx => {
    const [revoked] = tx
      .delete(dashboardLinks)
      .where(and(isInvitation(orgRow), isNewcomers, eq(dashboardLinks.publicId, id)))
      .returning()
      .all()
    if (!revoked || revoked.expiresAt <= audit.at) return false
    const { name, role } = revoked
    writeAudit(database, orgRow, [{ ...audit, subject: name, before: { role } }])
    return true
  })
}

const memberOf = (tx: Tables, orgRow: number, id: string): MemberRow | undefined =>
  tx
    .select()
    .from(members)
    .where(and(eq(members.orgId, orgRow), eq(members.publicId, id)))
    .get()

const linksFor = ({ orgId, issuer, subject }: Pick<MemberRow, 'orgId' | 'issuer' | 'subject'>) =>
  and(
    eq(dashboardLinks.orgId, orgId),
    eq(dashboardLinks.issuer, issuer),
    eq(dashboardLinks.subject, subject),
  )

/** See `MemberStore.linkMember`. */
export function linkMember(
  database: Database,
  orgRow: number,
  memberId: string,
  link: Parameters<MemberStore['linkMember']>[2],
  audit: AuditEntry,
): Awaited<ReturnType<InRows<MemberStore>['linkMember']>> {
  return inTransaction(database, tx => {
    const member = memberOf(tx, orgRow, memberId)
    if (!member) return 'not_found'
    if (member.role === 'operator') return 'operator'
    if (member.method === 'provider' || member.method === 'token') return 'no_links'
    const { issuer, subject, name, isNamed } = member
    // The newest link is the only one, so that an owner can take back one that was sent to the wrong person.
    tx.delete(dashboardLinks).where(linksFor(member)).run()
    const whose = { issuer, subject, name, isNamed, method: 'invitation', role: null } as const
    addLink(database, orgRow, { ...link, ...whose }, { ...audit, subject: name })
    return null
  })
}

const isLastOwner = (tx: Tables, { orgId, id, role }: MemberRow) =>
  role === 'owner' &&
  countOf(
    tx,
    members,
    and(eq(members.orgId, orgId), eq(members.role, 'owner'), ne(members.id, id)),
  ) === 0

/** What keeps somebody from changing or removing a member. */
function problemOf(tx: Tables, member: MemberRow, isOperator: boolean): MemberProblem | null {
  if (isOperator) return null
  if (member.role === 'operator') return 'operator'
  return isLastOwner(tx, member) ? 'last_owner' : null
}

/** See `MemberStore.changeRole`. */
export function changeRole(
  database: Database,
  orgRow: number,
  memberId: string,
  role: Role,
  isOperator: boolean,
  audit: AuditEntry,
): MemberProblem | null {
  return inTransaction(database, tx => {
    const member = memberOf(tx, orgRow, memberId)
    if (!member) return 'not_found'
    if (member.method === 'token') return 'read_only'
    if (member.isRoleProvided) return 'role_provided'
    if (member.role === role) return null
    const problem = problemOf(tx, member, isOperator)
    if (problem) return problem
    setRole(database, member, role, audit)
    const { name, role: before } = member
    writeAudit(database, orgRow, [
      { ...audit, subject: name, before: { role: before }, after: { role } },
    ])
    return null
  })
}

/** Sets a role, and takes back what the member passed on and may no longer do. */
function setRole(database: Database, member: MemberRow, role: Role, audit: AuditEntry): void {
  tables(database).update(members).set({ role }).where(eq(members.id, member.id)).run()
  if (!scopesOfRole[member.role].every(scope => scopesOfRole[role].includes(scope))) {
    revokeAccess(database, member, role, audit)
  }
}

/**
 * Revokes the tokens that a member created and that may do more than a role, and the links that they created or
 * were given. Otherwise somebody whose access ends could have kept a way back in.
 *
 * @param role what they may still do; null for nothing
 */
function revokeAccess(
  database: Database,
  member: MemberRow,
  role: Role | null,
  audit: AuditEntry,
): void {
  const tx = tables(database)
  const { orgId, publicId } = member
  tx.delete(dashboardLinks)
    .where(or(linksFor(member), eq(dashboardLinks.createdById, publicId)))
    .run()
  const allowed = role === null ? [] : scopesOfRole[role]
  const tokens = tx
    .select()
    .from(managementTokens)
    .where(
      and(
        eq(managementTokens.orgId, orgId),
        eq(managementTokens.createdById, publicId),
        isActive(audit.at),
      ),
    )
    .all()
  for (const token of tokens) {
    if (token.scopes.every(scope => allowed.includes(scope))) continue
    tx.update(managementTokens)
      .set({ revokedAt: audit.at })
      .where(eq(managementTokens.id, token.id))
      .run()
    const note = `Created by ${member.name}`
    writeAudit(database, orgId, [
      {
        ...audit,
        action: 'token.revoke',
        subject: token.publicId,
        before: null,
        after: null,
        note,
      },
    ])
  }
}

/** See `MemberStore.removeMember`. */
export function removeMember(
  database: Database,
  orgRow: number,
  memberId: string,
  isOperator: boolean,
  audit: AuditEntry,
): MemberProblem | null {
  return inTransaction(database, tx => {
    const member = memberOf(tx, orgRow, memberId)
    if (!member) return 'not_found'
    const problem = problemOf(tx, member, isOperator)
    if (problem) return problem
    const { name, role } = member
    writeAudit(database, orgRow, [{ ...audit, subject: name, before: { role } }])
    revokeAccess(database, member, null, audit)
    remove(tx, member.id)
    return null
  })
}

function remove(tx: Tables, row: number): void {
  tx.delete(dashboardSessions).where(eq(dashboardSessions.memberId, row)).run()
  tx.delete(members).where(eq(members.id, row)).run()
}

/** The member of this identity, as the sign-in changes them, or somebody new; in the caller's transaction. */
export function enter(
  database: Database,
  orgRow: number,
  who: NewcomerOrMember,
  audit: AuditEntry,
): MemberRow {
  const tx = tables(database)
  const { issuer, subject, method } = who
  const isThem = and(
    eq(members.orgId, orgRow),
    eq(members.issuer, issuer),
    eq(members.subject, subject),
  )
  const known = tx.select().from(members).where(isThem).get()
  if (!known) return addMember(tx, orgRow, who, audit.at)
  // A token is for reading, whoever has it: it changes nothing about the member.
  if (method === 'token') return known
  const isWithdrawn = method === 'provider' && known.isRoleProvided
  const role = who.role ?? (isWithdrawn ? 'viewer' : known.role)
  if (role !== known.role) setRole(database, known, role, audit)
  return tx
    .update(members)
    .set({
      method,
      isRoleProvided: method === 'provider' && who.role !== null,
      ...(who.isNamed && { isNamed: true }),
      ...((who.isNamed || !known.isNamed) && { name: who.name }),
    })
    .where(eq(members.id, known.id))
    .returning()
    .get()
}

function addMember(
  tx: Tables,
  orgRow: number,
  { role, ...who }: NewcomerOrMember,
  now: number,
): MemberRow {
  if (countOf(tx, members, eq(members.orgId, orgRow)) >= maxMembers) {
    const oldest = tx
      .select({ id: members.id })
      .from(members)
      .where(and(eq(members.orgId, orgRow), ne(members.method, 'invitation')))
      .orderBy(asc(members.lastSeenAt), asc(members.id))
      .limit(1)
      .get()
    if (oldest) remove(tx, oldest.id)
  }
  return tx
    .insert(members)
    .values({
      ...who,
      ...{
        publicId: newId('member'),
        orgId: orgRow,
        createdAt: now,
        lastSeenAt: now,
        role: role ?? 'viewer',
      },
      isRoleProvided: who.method === 'provider' && role !== null,
    })
    .returning()
    .get()
}

/** See `DashboardStore.nameMember`. */
export function nameMember(
  database: Database,
  orgRow: number,
  memberId: string,
  name: string,
  audit: AuditEntry,
): 'named' | 'named_before' | 'taken' {
  return inTransaction(database, tx => {
    const member = memberOf(tx, orgRow, memberId)
    if (!member || member.isNamed) return 'named_before'
    const isOther = and(eq(members.orgId, orgRow), ne(members.id, member.id))
    const names = tx.select({ name: members.name }).from(members).where(isOther).all()
    if (names.some(other => alike(other.name) === alike(name))) return 'taken'
    tx.update(members).set({ name, isNamed: true }).where(eq(members.id, member.id)).run()
    writeAudit(database, orgRow, [{ ...audit, subject: name }])
    return 'named'
  })
}

/** Names that readers of the audit log would take for the same. */
const alike = (name: string) => name.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim()
