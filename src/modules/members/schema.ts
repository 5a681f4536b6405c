import { type Static, Type } from '@sinclair/typebox'
import { closed } from '../../core/flow/values.ts'
import { memberRoles } from '../../core/organisation/access.ts'
import { personName } from '../../core/organisation/sessions.ts'
import { Instant, OneOf } from '../../core/shapes.ts'
import { Invitation, Member } from '../../storage/interfaces/members.ts'

export const MemberList = Type.Object(
  { members: Type.Array(Member), invitations: Type.Array(Invitation) },
  { title: 'MemberList' },
)
export type MemberList = Static<typeof MemberList>

const role = OneOf(memberRoles, {
  description: 'What the person may do.',
  examples: ['editor'],
})

export const NewInvitation = closed({
  name: Type.Optional(
    personName('Name of the person. Default: Cairn asks for it at the first sign-in.'),
  ),
  role,
})

export const ChangedRole = closed({ role })

const code = Type.String({
  description: 'Secret to append to `/dashboard/sign-in#`. Returned only here.',
  examples: ['…'],
})

export const CreatedInvitation = Type.Object(
  { ...Invitation.properties, code },
  { title: 'CreatedInvitation' },
)
export type CreatedInvitation = Static<typeof CreatedInvitation>

export const MemberLink = Type.Object(
  { code, expiresAt: Instant('When the link stops working.') },
  { title: 'MemberLink' },
)
export type MemberLink = Static<typeof MemberLink>
