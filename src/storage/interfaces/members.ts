import { type StaticDecode, Type } from '@sinclair/typebox'
import { memberRoles, type Role, roles } from '../../core/organisation/access.ts'
import type { AuditEntry } from '../../core/organisation/audit.ts'
import { signInMethods } from '../../core/organisation/sessions.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { Count, Instant, OneOf, Text } from '../../core/shapes.ts'
import type { NewLink } from './dashboard.ts'

export const Member = Type.Object(
  {
    id: Text('ID of the member.', 'member_4sWq9xLm2VbTn8Rk0c'),
    name: Text('Name, as the audit log shows it.', 'Ann'),
    role: OneOf(roles, { description: 'What the member may do.', examples: ['editor'] }),
    isRoleProvided: Type.Boolean({
      description: 'Whether the role comes from the identity provider. Then it cannot be changed.',
    }),
    method: OneOf(signInMethods, {
      description:
        "How the member signs in: with the identity provider, an invitation, the operator's link or a session token.",
      examples: ['invitation'],
    }),
    createdAt: Instant('When the member first signed in.'),
    lastSeenAt: Instant('When the member was last seen, to the minute.'),
    tokens: Count('Active management tokens that the member created.', 1),
  },
  { title: 'Member' },
)
export type Member = StaticDecode<typeof Member>

export const Invitation = Type.Object(
  {
    id: Text('ID of the invitation.', 'invitation_4sWq9xLm2VbTn8Rk0c'),
    name: Type.Union([Type.String(), Type.Null()], {
      description: 'Name of the person. Null if Cairn asks for it at the first sign-in.',
      examples: ['Ann'],
    }),
    role: OneOf(memberRoles, { description: 'Role of the person.', examples: ['editor'] }),
    createdBy: Text('Who created it.', 'Ben'),
    createdAt: Instant('When it was created.'),
    expiresAt: Instant('When it stops working.'),
  },
  { title: 'Invitation' },
)
export type Invitation = StaticDecode<typeof Invitation>

/** Why a member stays as they are. */
export type MemberProblem =
  | 'not_found'
  /** Nobody else could manage the organisation. */
  | 'last_owner'
  | 'role_provided'
  /** Session tokens are for reading. */
  | 'read_only'
  /** They sign in without links. */
  | 'no_links'
  /** Only the operator changes an operator. */
  | 'operator'

/** What managing members needs from storage. In an audit entry, it sets the member's name and what was before. */
export interface MemberStore {
  members(orgRef: OrganisationRef, now: number): Promise<Member[]>
  invitations(orgRef: OrganisationRef, now: number): Promise<Invitation[]>
  /** False if the organisation has the maximum number of members and invitations. */
  invite(orgRef: OrganisationRef, link: NewLink, audit: AuditEntry): Promise<boolean>
  /** False if there is none that works. */
  revokeInvitation(orgRef: OrganisationRef, id: string, audit: AuditEntry): Promise<boolean>
  /** Creates a link for somebody who is a member. @param link without what the member has */
  linkMember(
    orgRef: OrganisationRef,
    id: string,
    link: Omit<NewLink, keyof Identity>,
    audit: AuditEntry,
  ): Promise<MemberProblem | null>
  /**
   * Changes what a member may do, from the next request. Management tokens that they created and that may do more
   * are revoked, and so are links that they created.
   *
   * @param isOperator whether the operator does it, who may change anybody
   */
  changeRole(
    orgRef: OrganisationRef,
    id: string,
    role: Role,
    isOperator: boolean,
    audit: AuditEntry,
  ): Promise<MemberProblem | null>
  /** Removes a member with their sessions, links and management tokens. */
  removeMember(
    orgRef: OrganisationRef,
    id: string,
    isOperator: boolean,
    audit: AuditEntry,
  ): Promise<MemberProblem | null>
}

type Identity = Pick<NewLink, 'issuer' | 'subject' | 'name' | 'isNamed' | 'method' | 'role'>
