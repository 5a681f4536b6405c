import type { MemberList } from '../../../modules/members/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { roleNames, session } from '../api/session.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { formatAge } from '../parts/format.ts'
import type { Column } from '../parts/table.tsx'
import { Tip } from '../parts/tip.tsx'

export type Member = MemberList['members'][number]
type Invitation = MemberList['invitations'][number]

const methods: Readonly<Record<Member['method'], string>> = {
  provider: 'Identity provider',
  invitation: 'Invitation link',
  link: 'Operator link',
  token: 'Session token',
}

/** What somebody wants to do, which a dialog then asks about. */
export type Wanted =
  | { what: 'invite' }
  | { what: 'role' | 'link' | 'remove'; member: Member }
  | { what: 'revoke'; invitation: Invitation }

const isOperator = () => session.value?.role === 'operator'

function Role({ role, isRoleProvided, method }: Member) {
  const why = isRoleProvided
    ? 'Role from your identity provider. Change it there.'
    : method === 'token'
      ? 'Session tokens are always read-only.'
      : undefined
  return <Tip text={why}>{roleNames[role]}</Tip>
}

function Actions({ member, want }: { member: Member; want: (wanted: Wanted) => void }) {
  const { name, role, isRoleProvided, method } = member
  if (role === 'operator' && !isOperator()) return null
  const hasLinks = method === 'invitation' || method === 'link'
  return (
    <span class="row-actions">
      {!isRoleProvided && method !== 'token' && (
        <Button
          aria-label={`Change role of ${name}`}
          onClick={() => want({ what: 'role', member })}
        >
          Change role
        </Button>
      )}
      {hasLinks && role !== 'operator' && (
        <Button
          aria-label={`Create sign-in link for ${name}`}
          onClick={() => want({ what: 'link', member })}
        >
          Create sign-in link
        </Button>
      )}
      <Button
        look="danger"
        aria-label={`Remove ${name}`}
        onClick={() => want({ what: 'remove', member })}
      >
        Remove
      </Button>
    </span>
  )
}

/** Members, and what can be done with each. */
export const memberColumns = (want: (wanted: Wanted) => void): Column<Member>[] => [
  {
    name: 'Name',
    isTitle: true,
    cell: ({ id, name }) => (
      <>
        {name} {id === session.value?.person.id && <Badge>You</Badge>}
      </>
    ),
  },
  { name: 'Role', cell: Role },
  { name: 'Signs in with', cell: ({ method }) => methods[method] },
  { name: 'Last seen', cell: ({ lastSeenAt }) => formatAge(lastSeenAt) },
  {
    head: <span class="unseen">Actions</span>,
    name: '',
    cell: member => <Actions member={member} want={want} />,
  },
]

/** Invitations that nobody has used yet. */
export const invitationColumns = (want: (wanted: Wanted) => void): Column<Invitation>[] => [
  { name: 'Name', isTitle: true, cell: ({ name }) => name ?? 'Asked at the first sign-in' },
  { name: 'Role', cell: ({ role }) => roleNames[role] },
  { name: 'Invited by', cell: ({ createdBy }) => createdBy },
  { name: 'Expires', cell: ({ expiresAt }) => momentHere(expiresAt) },
  {
    head: <span class="unseen">Actions</span>,
    name: '',
    cell: invitation => (
      <span class="row-actions">
        <Button
          look="danger"
          aria-label={`Revoke the invitation of ${invitation.name ?? roleNames[invitation.role]}`}
          onClick={() => want({ what: 'revoke', invitation })}
        >
          Revoke
        </Button>
      </span>
    ),
  },
]
