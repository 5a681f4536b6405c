import type { MemberList } from '../../../modules/members/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { readAgain } from '../api/read.ts'
import { act } from '../api/request.ts'
import { roleNames, session } from '../api/session.ts'
import { Badge } from '../parts/badge.tsx'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { formatAge } from '../parts/format.ts'
import { Opener } from '../parts/opener.tsx'
import { actionsColumn, type Column } from '../parts/table.tsx'
import { Tip } from '../parts/tip.tsx'
import { say } from '../parts/toast.tsx'
import { ChangeRole, type Member, SignInLink } from './member-dialogs.tsx'

type Invitation = MemberList['invitations'][number]

const methods: Readonly<Record<Member['method'], string>> = {
  provider: 'Identity provider',
  invitation: 'Invitation link',
  link: 'Operator link',
  token: 'Session token',
}

async function remove(path: string, done: string): Promise<void> {
  await act(`/manage/members/${path}`, { method: 'DELETE' })
  say(done)
  readAgain()
}

function Role({ role, isRoleProvided, method }: Member) {
  const why = isRoleProvided
    ? 'Role from your identity provider. Change it there.'
    : method === 'token'
      ? 'Session tokens are always read-only.'
      : undefined
  return <Tip text={why}>{roleNames[role]}</Tip>
}

const tokensOf = ({ tokens }: Member) =>
  tokens === 0
    ? ''
    : tokens === 1
      ? ' 1 management token that they created stops working.'
      : ` ${tokens} management tokens that they created stop working.`

function Actions({ member }: { member: Member }) {
  const { id, name, role, isRoleProvided, method } = member
  if (role === 'operator' && session.value?.role !== 'operator') return null
  const hasLinks = method === 'invitation' || method === 'link'
  return (
    <>
      {!isRoleProvided && method !== 'token' && (
        <Opener label="Change role" aria-label={`Change role of ${name}`}>
          {close => <ChangeRole member={member} onClose={close} />}
        </Opener>
      )}
      {hasLinks && role !== 'operator' && (
        <Opener label="Create sign-in link" aria-label={`Create sign-in link for ${name}`}>
          {close => <SignInLink member={member} onClose={close} />}
        </Opener>
      )}
      <ConfirmButton
        label="Remove"
        name={`Remove ${name}`}
        title={`Remove ${name}`}
        verb="Remove member"
        isDanger
        act={() => remove(id, `Removed ${name}.`)}
      >
        <p>
          {name} is signed out everywhere now, and links that they created stop working.
          {tokensOf(member)}
        </p>
        {method === 'provider' && (
          <p>Your identity provider can still let them sign in. Remove their access there, too.</p>
        )}
      </ConfirmButton>
    </>
  )
}

/** Members, and what can be done with each. */
export const memberColumns: readonly Column<Member>[] = [
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
  actionsColumn(member => <Actions member={member} />),
]

/** Invitations that nobody has used yet. */
export const invitationColumns: readonly Column<Invitation>[] = [
  { name: 'Name', isTitle: true, cell: ({ name }) => name ?? 'Asked at the first sign-in' },
  { name: 'Role', cell: ({ role }) => roleNames[role] },
  { name: 'Invited by', cell: ({ createdBy }) => createdBy },
  { name: 'Expires', cell: ({ expiresAt }) => momentHere(expiresAt) },
  actionsColumn(({ id, name, role }) => (
    <ConfirmButton
      label="Revoke"
      name={`Revoke the invitation of ${name ?? roleNames[role]}`}
      title="Revoke invitation"
      verb="Revoke invitation"
      isDanger
      act={() => remove(`invitations/${id}`, 'Invitation revoked.')}
    >
      <p>The link stops working now.</p>
    </ConfirmButton>
  )),
]
