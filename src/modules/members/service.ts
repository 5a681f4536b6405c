import { AppError } from '../../core/errors.ts'
import { type Role, scopesOfRole } from '../../core/organisation/access.ts'
import type { Auditor } from '../../core/organisation/audit.ts'
import { newId } from '../../core/organisation/ids.ts'
import {
  dashboardSecretHash,
  invitationMs,
  memberLinkMs,
  newDashboardSecret,
} from '../../core/organisation/sessions.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { may, type Principal } from '../../http/principal.ts'
import type { Invitation, MemberProblem, MemberStore } from '../../storage/interfaces/members.ts'

const messages: Readonly<Record<MemberProblem, [Parameters<typeof problem>[0], string]>> = {
  not_found: ['not_found', 'Member not found.'],
  last_owner: ['last_owner', 'This is the last owner. Make another member an owner first.'],
  operator: ['forbidden', 'Only the operator can change an operator.'],
  role_provided: ['cannot_change_member', 'The role comes from your identity provider.'],
  read_only: ['cannot_change_member', 'Session tokens are always read-only.'],
  no_links: ['cannot_change_member', 'This member signs in without a link.'],
}

const problem = (
  code: 'not_found' | 'last_owner' | 'forbidden' | 'cannot_change_member',
  message: string,
) => new AppError(code, message)

function requireDone(found: MemberProblem | null): void {
  if (found !== null) throw problem(...messages[found])
}

const isOperator = (principal: Principal) =>
  principal.kind === 'operator' ||
  (principal.kind === 'session' && principal.session.role === 'operator')

/** Nobody can give more than they have. @throws AppError `forbidden` */
function requireRole(principal: Principal, role: Role): void {
  const missing = scopesOfRole[role].find(scope => !may(principal, scope))
  if (missing === undefined) return
  const message = `You can only give roles whose scopes you have, and you lack ${missing}.`
  throw new AppError('forbidden', message, { fields: { scope: missing } })
}

/** A new link, whose code is returned here and never again. */
function newLink(principal: Principal, at: number, ms: number) {
  const code = newDashboardSecret()
  const link = {
    sha256: dashboardSecretHash(code)!,
    id: newId('invitation'),
    createdBy: principal.name,
    createdById: principal.kind === 'session' ? principal.session.memberId : null,
    createdAt: at,
    expiresAt: at + ms,
  }
  return { code, link }
}

/** Who may sign in to an organisation's dashboard. Each change throws an AppError if it is not allowed. */
export class Members {
  constructor(private readonly store: MemberStore) {}

  async list(orgRef: OrganisationRef, now: number) {
    const [members, invitations] = await Promise.all([
      this.store.members(orgRef, now),
      this.store.invitations(orgRef, now),
    ])
    return { members, invitations }
  }

  async invite(
    orgRef: OrganisationRef,
    { name, role }: { name?: string; role: Invitation['role'] },
    principal: Principal,
    audit: Auditor,
  ): Promise<Invitation & { code: string }> {
    requireRole(principal, role)
    const entry = audit('member.invite', name ?? 'invitation', { after: { role } })
    const { code, link } = newLink(principal, entry.at, invitationMs)
    const isInvited = await this.store.invite(
      orgRef,
      {
        ...link,
        ...{ issuer: 'invitation', subject: link.id, method: 'invitation', role },
        ...{ name: name ?? `invited by ${principal.name}`, isNamed: name !== undefined },
      },
      entry,
    )
    if (!isInvited) {
      throw new AppError(
        'too_many_members',
        'Too many members. Remove some, or revoke invitations.',
      )
    }
    const { id, createdBy, createdAt, expiresAt } = link
    return { id, name: name ?? null, role, createdBy, createdAt, expiresAt, code }
  }

  async revokeInvitation(orgRef: OrganisationRef, id: string, audit: Auditor): Promise<void> {
    if (await this.store.revokeInvitation(orgRef, id, audit('member.invite_revoke', id))) return
    throw new AppError('not_found', 'Invitation not found. It may have been used.')
  }

  async link(orgRef: OrganisationRef, id: string, principal: Principal, audit: Auditor) {
    const entry = audit('member.link', id)
    const { code, link } = newLink(principal, entry.at, memberLinkMs)
    await this.requireNoMore(orgRef, id, principal, entry.at)
    requireDone(await this.store.linkMember(orgRef, id, link, entry))
    return { code, expiresAt: link.expiresAt }
  }

  async changeRole(
    orgRef: OrganisationRef,
    id: string,
    role: Role,
    principal: Principal,
    audit: Auditor,
  ): Promise<void> {
    requireRole(principal, role)
    const entry = audit('member.role', id)
    requireDone(await this.store.changeRole(orgRef, id, role, isOperator(principal), entry))
  }

  async remove(orgRef: OrganisationRef, id: string, principal: Principal, audit: Auditor) {
    const entry = audit('member.remove', id)
    requireDone(await this.store.removeMember(orgRef, id, isOperator(principal), entry))
  }

  /** A link signs in as the member, so that its creator has to have all of the member's scopes. */
  private async requireNoMore(
    orgRef: OrganisationRef,
    id: string,
    principal: Principal,
    now: number,
  ): Promise<void> {
    const member = (await this.store.members(orgRef, now)).find(one => one.id === id)
    if (member) requireRole(principal, member.role)
  }
}
