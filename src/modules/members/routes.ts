import { auditOf, management } from '../../http/management.ts'
import type { Route } from '../../http/route.ts'
import type { MemberStore } from '../../storage/interfaces/members.ts'
import { ChangedRole, CreatedInvitation, MemberLink, MemberList, NewInvitation } from './schema.ts'
import { Members } from './service.ts'

const owner = management('settings:write')

/** Routes that manage who may sign in to an organisation's dashboard. */
export function memberRoutes({ members: store }: { members: MemberStore }): Route[] {
  const members = new Members(store)
  const errors = ['not_found', 'last_owner', 'cannot_change_member', 'forbidden'] as const
  return [
    owner.get(
      '/manage/members',
      'listMembers',
      'List members and pending invitations',
      { returns: MemberList },
      ({ org, receivedAt }) => members.list(org.ref, receivedAt),
    ),
    owner.post(
      '/manage/members/invitations',
      'inviteMember',
      'Create an invitation link',
      {
        description: 'The link works once, within 7 days.',
        body: NewInvitation,
        errors: ['too_many_members'],
        returns: CreatedInvitation,
        response: 'The invitation. Its code is returned only once.',
      },
      call => members.invite(call.org.ref, call.body, call.principal!, auditOf(call)),
    ),
    owner.remove(
      '/manage/members/invitations/:invitation_id',
      'revokeInvitation',
      'Revoke an invitation',
      { errors: ['not_found'], response: 'Invitation revoked.' },
      call =>
        members.revokeInvitation(call.org.ref, call.params.invitation_id ?? '', auditOf(call)),
    ),
    owner.post(
      '/manage/members/:member_id/links',
      'linkMember',
      'Create a sign-in link for a member',
      {
        description:
          'The link works once, within 24 hours, and replaces earlier ones for this member. Members who use the identity provider or a session token need none.',
        errors,
        returns: MemberLink,
        response: 'The link. Its code is returned only once.',
      },
      call =>
        members.link(call.org.ref, call.params.member_id ?? '', call.principal!, auditOf(call)),
    ),
    owner.patch(
      '/manage/members/:member_id',
      'changeMember',
      "Change a member's role",
      {
        description:
          'Takes effect at the next request. Less access also revokes the management tokens that the member created and that allow more.',
        body: ChangedRole,
        errors,
        response: 'Role changed.',
      },
      call =>
        members.changeRole(
          ...([call.org.ref, call.params.member_id ?? '', call.body.role] as const),
          ...([call.principal!, auditOf(call)] as const),
        ),
    ),
    owner.remove(
      '/manage/members/:member_id',
      'removeMember',
      'Remove a member',
      {
        description:
          'Ends their sessions, and revokes the management tokens and links that they created. Members who use the identity provider can sign in again.',
        errors,
        response: 'Member removed.',
      },
      call =>
        members.remove(call.org.ref, call.params.member_id ?? '', call.principal!, auditOf(call)),
    ),
  ]
}
